"""The HTML page that `magicbyte stats --format html` writes."""
