"""Log directories: names of files, live segments, companion and checkpoint files, remote segments."""
