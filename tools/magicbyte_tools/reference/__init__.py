"""The format reference, docs/formats/, from spec/*.ksy. Not in the wheel."""
