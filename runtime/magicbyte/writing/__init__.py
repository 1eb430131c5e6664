"""Writes logs: rewritten copies of partitions, their companion files, and records that are given as Arrow data."""
