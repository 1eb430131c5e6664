"""The log cleaner's decision about each log entry and record, from columns (Cleaner, MemoryRecords.filterTo).

Nothing here reads files: a round gives the facts, and these functions apply the rules.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.protocol import Decoded, Entries
from magicbyte.errors import InputError
from magicbyte.tables.arrays import Codes, Mask, null_mask, to_numpy
from magicbyte.writing._cleaner_settings import CleanerSettings

NO_HORIZON = -1


class StuckError(InputError):
    """A round meets a message that Kafka's cleaner can neither remove nor empty."""


class Action(IntEnum):
    """Action of a round on a log entry."""

    REMOVE = 0
    COPY = 1
    """Keep it byte for byte."""
    EMPTY = 2
    """Keep a v2 batch without its records."""
    REBUILD = 3
    """Write it again: with fewer records, with a delete horizon, or as a v2 batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryFacts:
    """Entries of a segment with the columns `key` and `value`, and the facts about them that a round has found."""

    entries: Entries
    decoded: Decoded
    is_removable: Mask
    """True for data of aborted transactions, and for markers whose transaction has no batch left."""
    holds_producer_state: Mask
    """True for the last batch of a producer that a broker remembers."""
    is_last_of_key: Mask
    """True for each record whose key has no later offset in the map."""
    latest_offset: int
    """Offset up to which the map is complete: later records stay."""
    upper_bound: int
    """Offset at which the round ends."""
    keeps_old_tombstones: bool
    """True if tombstones in v0 and v1 messages stay, by the age of their segment."""


@dataclass(frozen=True, slots=True)
class Decisions:
    """Actions of a round on entries, and the records that stay."""

    actions: Codes
    """An Action for each entry."""
    horizons: Numbers
    """Delete horizon of each entry that is rebuilt, in milliseconds; NO_HORIZON without one."""
    is_retained: Mask
    """True for each record that stays."""
    num_retained: Numbers
    """Records of each entry that stay."""
    is_superseded: Mask
    """True for each record below the end of the map whose key has a later record."""
    is_keyless: Mask
    """True for each record that is removed because it has no key."""
    is_expired: Mask
    """True for each tombstone that is the last record of its key and whose time has passed."""


def decide(facts: EntryFacts, settings: CleanerSettings) -> Decisions:
    """Return the decisions of a round with *settings* about the entries of *facts*."""
    entries, decoded = facts.entries, facts.decoded
    num_rows = decoded.num_rows
    of_entry = np.repeat(np.arange(len(entries)), num_rows)
    is_control = entries.column("is_control") != 0
    is_message = entries.column("magic") < 2
    has_horizon = entries.column("has_delete_horizon") != 0
    stored_horizons = np.where(has_horizon, entries.column("base_timestamp"), NO_HORIZON)

    # A marker stays until its own horizon has passed, aborted data is removed now.
    is_past = has_horizon & (stored_horizons <= settings.now_ms)
    removes_records = facts.is_removable & (~is_control | is_past)
    keeps_tombstones = np.where(
        is_message, facts.keeps_old_tombstones, ~has_horizon | (settings.now_ms < stored_horizons)
    )
    offsets = to_numpy(decoded.rows.column("offset"))
    has_key = ~null_mask(decoded.rows.column("key"))
    has_value = ~null_mask(decoded.rows.column("value"))
    is_data = ~(removes_records | is_control)[of_entry]
    is_mapped = is_data & (offsets <= facts.latest_offset)
    is_superseded = is_mapped & has_key & ~facts.is_last_of_key
    is_keyless = is_mapped & ~has_key
    is_expired = is_mapped & has_key & facts.is_last_of_key & ~has_value
    is_expired &= ~keeps_tombstones[of_entry]
    is_retained = ~(removes_records[of_entry] | is_superseded | is_keyless | is_expired)
    num_retained = np.bincount(of_entry[is_retained], minlength=len(entries))
    has_tombstones = np.zeros(len(entries), np.bool_)
    has_tombstones[of_entry[is_retained & ~has_value]] = True

    needs_horizon = (has_tombstones | (facts.is_removable & is_control)) & ~has_horizon
    needs_rebuilding = num_retained < num_rows
    if settings.converts_messages:
        needs_rebuilding |= is_message
    else:
        needs_horizon &= ~is_message
    needs_rebuilding |= needs_horizon
    is_bound = entries.column("last_offset") + 1 == facts.upper_bound
    actions = np.where(needs_rebuilding, Action.REBUILD, Action.COPY)
    actions[num_retained == 0] = Action.REMOVE
    actions[(num_retained == 0) & (facts.holds_producer_state | is_bound)] = Action.EMPTY
    _check_messages(entries, actions, is_message)
    new_horizon = settings.now_ms + settings.delete_retention_ms
    return Decisions(
        actions=actions.astype(np.int8),
        horizons=np.where(needs_horizon, new_horizon, stored_horizons),
        is_retained=is_retained,
        num_retained=num_retained,
        is_superseded=is_superseded,
        is_keyless=is_keyless,
        is_expired=is_expired,
    )


def _check_messages(entries: Entries, actions: Numbers, is_message: Mask) -> None:
    """Raise StuckError for a message that Kafka's cleaner can neither remove nor empty."""
    stuck = np.flatnonzero((actions == Action.EMPTY) & is_message)
    if len(stuck):
        entry = entries[int(stuck[0])]
        raise StuckError(
            f"no record of the last message of the round, offset {entry.last_offset} in format v{entry.magic}, "
            f"would stay, and only a v2 batch can be kept empty",
            "a record with a key; Kafka's cleaner stops there with an IllegalStateException and leaves the "
            "partition alone",
        )
