"""HTML pages: report.html of `magicbyte pipeline`, and the page of `magicbyte stats`."""
