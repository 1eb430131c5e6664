"""Sections of report.html: functions that turn figures into HTML."""
