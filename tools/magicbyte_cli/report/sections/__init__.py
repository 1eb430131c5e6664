"""The parts of the page: figures in, HTML out."""
