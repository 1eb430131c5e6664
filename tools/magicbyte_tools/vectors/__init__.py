"""Conformance vectors: bytes, and what a reader must make of them (`make vectors`).

A case is a few declarative lines in a module of its family. The Construct twin turns them into
bytes, or into bytes with one fault; what is expected comes from the same lines, and never from
what a reader under test gave.
"""
