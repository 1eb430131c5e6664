"""Hand-written code that generated modules import."""
