"""Log directories: which files there are, which of them a broker would use, and what lies beside."""
