"""Pure folds of internal topics: records of a topic in, the state that they add up to out. No files are read."""
