"""report.html: what a pipeline found, on one page that needs nothing else."""

from magicbyte_tools.report.page import write_report

__all__ = ["write_report"]
