"""What the Kaitai Web IDE shows of the specifications, and proof that it shows every byte."""
