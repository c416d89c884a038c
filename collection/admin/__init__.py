"""For operators: which repositories cannot be collected and why, which collections go on or are
stuck, and what has come of them."""

from collection.admin import collected, repositories, runs

__all__ = ["collected", "repositories", "runs"]
