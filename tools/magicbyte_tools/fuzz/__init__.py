"""Fuzzes the engines: mutated entries between guard pages, compared with the reference engine."""
