"""Exit statuses of all commands, for the manual pages and the documentation."""

IS_INCOMPLETE = "magicbyte_cli.is_incomplete"
"""Key of a context's `meta`: an archive was damaged, so that something could not be read."""

EXIT_STATUSES = {
    0: "Nothing is wrong.",
    1: "There is a finding of severity error, or `verify` predicts that a broker would fail to start, lose offsets, not "
    "serve a partition, or serve damaged data.",
    2: "Something could not be read, after everything else was; or the command line is invalid.",
    130: "The user interrupted the command.",
}
