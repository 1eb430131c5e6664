# Written by tools/magicbyte_tools/generate. Do not edit: `make generate`.
"""Schemas of Kafka's messages, a module for each topic they are kept in."""
