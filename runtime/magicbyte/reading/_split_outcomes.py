"""The outcomes that a plan gives a split, because the split's own entries do not show them."""

import numpy as np

from magicbyte._transactions import LogPosition, PlannedOutcomes
from magicbyte.reading._index_outcomes import OpenAtEnd, OutcomeIndex, indexes_of
from magicbyte.reading.outcomes import OUTCOME_CODES
from magicbyte.reading.survey import Boundary, SegmentSurvey, Survey
from magicbyte.tables.arrays import Mask, StructuredRows
from magicbyte.tables.schemas import OUTCOMES

COMMITTED, OPEN = OUTCOME_CODES["committed"], OUTCOME_CODES["open"]


class SplitOutcomes:
    """Finds the outcomes for the splits of one partition. A split gets the outcomes of its own data alone."""

    def __init__(self, survey: Survey) -> None:
        """*survey* has settled the transactions of the partition."""
        self._survey = survey
        table = survey.transactions
        self._rows = table.rows
        is_uncertain = self._rows["is_uncertain"] & self._rows["has_data"]
        self._uncertain = self._rows[table.listed[is_uncertain[table.listed]]]
        self._indexes = {} if survey.aborted is None else indexes_of(survey.log)

    def planned(
        self, segment: SegmentSurvey, start: int, end: int, boundary: Boundary | None
    ) -> PlannedOutcomes:
        """Return the outcomes for the split [start, end) of *segment*, which ends at *boundary*.

        *boundary* None is the end of the log. Without an outcome, data of a transaction whose marker is not in
        the split is open.
        """
        if self._survey.aborted is not None:
            return PlannedOutcomes()
        opened = self._open_at(boundary, segment, start)
        opened = opened[opened["outcome"] != OPEN]
        is_here = _reach(self._uncertain, segment.number, start)
        is_here &= ~_begin_from(self._uncertain, segment.number, end)
        uncertain = self._uncertain[is_here]
        return PlannedOutcomes(
            at_end=tuple(
                sorted(
                    (producer, OUTCOMES[code])
                    for producer, code in opened[["producer_id", "outcome"]].tolist()
                )
            ),
            exceptions=tuple(
                zip(
                    uncertain["producer_id"].tolist(),
                    map(LogPosition, *_positions(uncertain, "first")),
                    map(LogPosition, *_positions(uncertain, "last")),
                    [OUTCOMES[code] for code in uncertain["outcome"].tolist()],
                    strict=True,
                )
            ),
        )

    def index(
        self, segment: SegmentSurvey, start: int, boundary: Boundary | None
    ) -> OutcomeIndex | None:
        """Return the transaction index for the split of *segment* from *start* to *boundary*.

        None is returned where markers decide. A transaction that no index lists, and that is not open at the end
        of the log, is committed.
        """
        survey = self._survey
        if survey.aborted is None or segment.file.base_offset is None:
            return None
        opened = self._open_at(boundary, segment, start)
        is_aborted = survey.aborted.contain(opened["producer_id"], opened["last_offset"])
        codes = np.where(
            (opened["outcome"] != OPEN) & is_aborted, OUTCOME_CODES["aborted"], opened["outcome"]
        )
        opened, codes = opened[codes != COMMITTED], codes[codes != COMMITTED]
        order = np.argsort(opened["producer_id"], kind="stable")
        rows = opened[["producer_id", "first_offset"]][order].tolist()
        return OutcomeIndex(
            self._indexes.get(segment.file.base_offset),
            tuple(
                OpenAtEnd(producer, first, OUTCOMES[code])
                for (producer, first), code in zip(rows, codes[order].tolist(), strict=True)
            ),
        )

    def _open_at(
        self, boundary: Boundary | None, segment: SegmentSurvey, start: int
    ) -> StructuredRows:
        """Return the transactions that are open at *boundary* and may have data in *segment* from *start* on."""
        if boundary is None:
            listed = self._survey.transactions.listed
            opened = self._rows[listed[self._rows["outcome"][listed] == OPEN]]
        elif boundary.open_here is None:
            return self._rows[:0]
        else:
            opened = self._rows[boundary.open_here]
        numbers = np.flatnonzero(opened["has_data"] & _reach(opened, segment.number, start))
        opened_here: StructuredRows = opened[numbers]
        return opened_here


def _reach(rows: StructuredRows, segment: int, start: int) -> Mask:
    """Return a mask of the transactions whose last data is at *start* of *segment*, or after it."""
    is_in_segment = rows["last_segment"] == segment
    reach: Mask = rows["last_segment"] > segment
    reach |= is_in_segment & (rows["last_position"] >= start)
    return reach


def _begin_from(rows: StructuredRows, segment: int, end: int) -> Mask:
    """Return a mask of the transactions whose first data is at *end* of *segment*, or after it."""
    is_in_segment = rows["first_segment"] == segment
    begin: Mask = rows["first_segment"] > segment
    begin |= is_in_segment & (rows["first_position"] >= end)
    return begin


def _positions(rows: StructuredRows, which: str) -> tuple[list[int], list[int]]:
    """Return the segments, and the positions in them, of the first or last data of transactions."""
    return rows[f"{which}_segment"].tolist(), rows[f"{which}_position"].tolist()
