"""Builds the conformance vectors: bytes, and the answers that a reader must give (`make vectors`).

A case is a few declarative lines in a module of its family. The Construct twin turns them into
bytes, or into bytes with one fault. The expected answer comes from the same lines, and never from
the output of a reader under test.
"""
