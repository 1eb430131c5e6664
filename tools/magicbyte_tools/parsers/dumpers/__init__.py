"""Programs that print a file as the canonical tree, by the parsers of several languages."""
