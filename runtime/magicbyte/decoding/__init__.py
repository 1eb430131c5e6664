"""Typed keys and values: bytes and a schema in, Arrow arrays out. No files are read."""
