"""Builds one executable file of the command line, for a machine without Python."""
