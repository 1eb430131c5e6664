"""Builds the shared libraries of kernels, for this machine and for others."""
