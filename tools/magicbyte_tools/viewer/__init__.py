"""Builds the viewer, one HTML file that shows a file's bytes beside their fields."""
