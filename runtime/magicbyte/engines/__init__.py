"""Engines: two implementations that turn bytes into log entries and columns."""
