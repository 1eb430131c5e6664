"""First module of the executable file."""

import sys
from multiprocessing import freeze_support

from magicbyte_cli import main

if __name__ == "__main__":
    # A process of `verify --processes` is this file again, and runs no command line.
    freeze_support()
    sys.exit(main())
