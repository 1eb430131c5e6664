"""Packs tests/vectors for those who use them: a tarball, and packages for Python, Node, Java and Go.

The same vectors give the same bytes: archives hold sorted files with one time and no owner.
"""
