"""What `stats` has counted, as a page that needs nothing else."""
