"""Scores a parser of Kafka's formats: runs an executable on the vectors, and judges its answers.

tests/vectors/README.md has the protocol.
"""
