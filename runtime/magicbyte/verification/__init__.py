"""Checks across files and replicas, and the prediction of a broker's startup."""
