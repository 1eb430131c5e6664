"""Builds dumpers: programs that parse a file in another language and print its fields as JSON."""
