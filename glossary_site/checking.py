"""Long work that can be stopped in the middle: whoever starts it gives it a `check`, which raises
when nobody wants the result any more."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Check = Callable[[], object]
Item = TypeVar("Item")


def checked(items: Iterable[Item], check: Check, *, every: int) -> Iterator[Item]:
    """The items, with a check before the first of each so many."""
    for number, item in enumerate(items):
        if number % every == 0:
            check()
        yield item
