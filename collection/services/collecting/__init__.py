"""Doing the work of a collection: the way is told in `going.py`."""

from collection.services.collecting.going import Parked, collect

__all__ = ["Parked", "collect"]
