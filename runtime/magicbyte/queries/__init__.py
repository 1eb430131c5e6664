"""Questions about logs in SQL."""
