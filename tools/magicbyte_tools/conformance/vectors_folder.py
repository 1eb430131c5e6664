"""Path of the test vectors in this checkout; score.py, which is assembled without this module, has its own."""

from magicbyte_tools.generate.kaitai import CHECKOUT

VECTORS = CHECKOUT / "tests" / "vectors"
