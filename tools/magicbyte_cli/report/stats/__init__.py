"""The page of `magicbyte stats`."""
