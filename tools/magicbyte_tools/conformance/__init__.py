"""Scores parsers of Kafka's file formats: runs an executable on the test vectors and judges its answers.

tests/vectors/README.md describes the protocol.
"""
