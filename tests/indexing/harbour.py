"""A text whose sections are long enough to stay by themselves."""

from projects.models import Document, Project
from tests.indexing.working import make_indexed

HARBOUR = """# Harbour

The harbour is where ships rest between two voyages, where crews go ashore, and where the cargo is
weighed, counted and handed over to those who wait for it on the quay.

## Pilots

A pilot guides ships through the narrow channel. Masters of foreign vessels must take one on board
at the outer buoy, and may send him back only when the ship is made fast.

## Tides

High water lifts every vessel in the basin twice a day. The times are on the board beside the gate,
and the gate stays closed for two hours before and after the lowest level.
"""


def make_harbour(project: Project, path: str = "harbour.md") -> Document:
    return make_indexed(project, path, HARBOUR)
