"""Scores client libraries on the vectors, by the runners in tests/vectors/runners, and writes docs/scores.md."""
