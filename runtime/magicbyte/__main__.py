"""`python -m magicbyte`: the command line, which is the package magicbyte_cli."""

from importlib import import_module

if __name__ == "__main__":
    # By name: the library itself does not depend on the command line.
    import_module("magicbyte_cli").main(prog_name="magicbyte")
