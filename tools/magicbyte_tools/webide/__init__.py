"""Checks that the Kaitai Web IDE assigns every byte of a Kafka file to a field of its format."""
