"""Fuzzes the columnar engine: mutated log entries between guard pages, compared with the reference engine."""
