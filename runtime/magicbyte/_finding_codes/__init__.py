"""The codes of findings, by subject. Each has texts that explain it to a user.

A new code goes into the module of its subject, with all of its texts; `docs/findings.md` and
`magicbyte verify --explain` are made from them (`make docs`).
"""

from magicbyte._finding_codes._brokers import BROKERS
from magicbyte._finding_codes._captures import CAPTURES
from magicbyte._finding_codes._code import SEVERITIES, Code, Severity
from magicbyte._finding_codes._directories import DIRECTORIES, REMOTE
from magicbyte._finding_codes._framing import FRAMING
from magicbyte._finding_codes._internal_records import INTERNAL_RECORDS
from magicbyte._finding_codes._meanings import MEANINGS
from magicbyte._finding_codes._offsets import OFFSETS, TIMES
from magicbyte._finding_codes._payloads import PAYLOADS
from magicbyte._finding_codes._produced import PRODUCED
from magicbyte._finding_codes._restores import RESTORES
from magicbyte._finding_codes._transactions import TRANSACTIONS
from magicbyte._finding_codes._written import WRITTEN

__all__ = ["CODES", "SEVERITIES", "SUBJECTS", "Code", "Severity"]

SUBJECTS = {
    "Framing and checksums": FRAMING,
    "Batches, messages and records": PAYLOADS,
    "Offsets, epochs and sequences": OFFSETS,
    "Transactions": TRANSACTIONS,
    "Files of a partition and a log.dir": DIRECTORIES,
    "Remote segments": REMOTE,
    "Timestamps": TIMES,
    "Brokers and their log.dirs": BROKERS,
    "Folders for another cluster": RESTORES,
    "Produced batches": PRODUCED,
    "Written logs": WRITTEN,
    "Records of internal topics": INTERNAL_RECORDS,
    "Schemas and typed values": MEANINGS,
    "Captured traffic": CAPTURES,
}
"""The codes of each subject, in the order in which they are listed."""

CODES = {code.name: code for codes in SUBJECTS.values() for code in codes}
