# Written by tools/magicbyte_tools/generate. Do not edit: `make generate`.
"""Kaitai classes: the reference parsers, an object per structure.

A field whose condition is false is None. A number outside its enum is an int.
"""
