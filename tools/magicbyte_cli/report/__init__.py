"""Pages to read: report.html of a pipeline, and what `stats` has counted."""
