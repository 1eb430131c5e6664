"""Generates the format reference, docs/formats/, from spec/. Not in the wheel."""
