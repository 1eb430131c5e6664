"""Builds programs that print a file as the canonical tree, with the parsers of several languages."""
