"""Bytes that nobody meant, for the engines: what is tried, on what, and what must never come of it."""
