# Written by tools/magicbyte_tools/generate. Do not edit: `make generate`.
"""Kafka's record formats as Python, generated from spec/."""
