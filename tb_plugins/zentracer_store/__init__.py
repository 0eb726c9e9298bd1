"""Reads event files, whichever writer made them, into columns, and answers questions about them."""

from zentracer_store.catalogue import Catalogue
from zentracer_store.discover import Place, parse_places
from zentracer_store.facts import facts_of, has_loss
from zentracer_store.points import Sample, sample_of, values_at
from zentracer_store.query import ARRAYS, LARGEST_SIDE, CellsAnswer, CellsQuery, QueryError, answer_cells
from zentracer_store.store import Store
from zentracer_store.timeline import Timeline
from zentracer_store.trial import Scope

__all__ = [
    "ARRAYS",
    "LARGEST_SIDE",
    "Catalogue",
    "CellsAnswer",
    "CellsQuery",
    "Place",
    "QueryError",
    "Sample",
    "Scope",
    "Store",
    "Timeline",
    "answer_cells",
    "facts_of",
    "has_loss",
    "parse_places",
    "sample_of",
    "values_at",
]
