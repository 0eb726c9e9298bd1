"""Reads event files, whichever writer made them, into columns, and answers questions about them."""

from zentracer_store.catalogue import Catalogue
from zentracer_store.contents.growing import Lost
from zentracer_store.discover import Place, parse_places
from zentracer_store.pictures.picture import ARRAYS
from zentracer_store.pictures.points import Sample, sample_of, values_at
from zentracer_store.pictures.query import (
    LARGEST_SIDE,
    CellsAnswer,
    CellsQuery,
    QueryError,
    answer_cells,
    answer_several,
)
from zentracer_store.runs.facts import facts_of, has_loss
from zentracer_store.runs.holdings import Holding
from zentracer_store.runs.spans import SessionSpan
from zentracer_store.runs.timeline import Timeline
from zentracer_store.runs.trial import ALL, Scope, View
from zentracer_store.store import Store

__all__ = [
    "ALL",
    "ARRAYS",
    "LARGEST_SIDE",
    "Catalogue",
    "CellsAnswer",
    "CellsQuery",
    "Holding",
    "Lost",
    "Place",
    "QueryError",
    "Sample",
    "Scope",
    "SessionSpan",
    "Store",
    "Timeline",
    "View",
    "answer_cells",
    "answer_several",
    "facts_of",
    "has_loss",
    "parse_places",
    "sample_of",
    "values_at",
]
