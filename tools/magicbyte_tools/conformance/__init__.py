"""What a parser of Kafka's formats gets wrong: runs any executable on the vectors, and judges.

The protocol is that of tests/vectors/README.md.
"""
