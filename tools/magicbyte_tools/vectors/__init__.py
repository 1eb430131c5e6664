"""Builds the test vectors: files in Kafka's formats, each with the result that a reader must give.

A case is a few declarative lines in a `*_cases` module. The Construct encoder (magicbyte_construct)
turns them into bytes, sound or with one fault. The expected records, findings and errors come from
the same lines, never from the output of a reader under test. `make vectors` writes the files.
"""
