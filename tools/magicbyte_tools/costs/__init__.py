"""Measures the size of the same records in v0, v1, v2 and KIP-931's discarded v3, with every codec."""
