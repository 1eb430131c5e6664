"""Test that the stored page of the viewer was built from the sources that are here."""

from magicbyte_tools.viewer import page_builder


def test_stored_page_is_current() -> None:
    assert page_builder.is_current(), "run `make generate`"
