"""Checks that the Kaitai Web IDE shows every byte of a file by the specifications."""
