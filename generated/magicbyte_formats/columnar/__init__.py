# Written by tools/magicbyte_tools/generate. Do not edit: `make generate`.
"""Modules that turn bytes into columns, generated from spec/."""
