"""The kinds of work there are. Each app's `jobs.py` registers its own, and is loaded when somebody
asks for a kind: nearly all of the site comes with it."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from django.utils.module_loading import autodiscover_modules
from django.utils.translation import gettext as _

from glossary_site.errors import Refusal
from glossary_site.jobs.choices import Lane

if TYPE_CHECKING:
    from glossary_site.jobs.session import Session

Result = dict[str, Any] | None
Function = Callable[..., Result]


@dataclass(frozen=True)
class Kind:
    name: str
    function: Function
    lane: Lane
    timeout: int
    retries: int
    # Whether operators may make a definition of it: it works with a payload written by hand.
    schedulable: bool
    # When the site does it by itself, unless an operator has moved it. Empty: it does not.
    cron: str

    def run(self, session: "Session", payload: dict[str, Any]) -> Result:
        return self.function(session, **payload)

    def takes(self, argument: str) -> bool:
        return argument in _signature(self.function).parameters

    def check_payload(self, payload: dict[str, Any]) -> None:
        """A payload that the function cannot take is refused where somebody can still mend it."""
        try:
            _signature(self.function).bind(None, **payload)
        except TypeError as error:
            raise Refusal(
                "bad_payload",
                _("Work of the kind “%(kind)s” cannot take this payload: %(reason)s.")
                % {"kind": self.name, "reason": error},
                status=400,
            ) from error


@cache
def _signature(function: Function) -> inspect.Signature:
    return inspect.signature(function)


_kinds: dict[str, Kind] = {}


def job(
    name: str,
    *,
    lane: Lane,
    timeout: int,
    retries: int = 3,
    schedulable: bool = False,
    cron: str = "",
) -> Callable[[Function], Function]:
    """Registers `function(session, **payload)` as a kind of work. It may run more than once (after
    a crash), so its effects go into `session.atomic()` or `session.finishing()`."""

    def register(function: Function) -> Function:
        if name in _kinds:
            raise RuntimeError(f"There are two kinds of work called {name}")
        _kinds[name] = Kind(
            name=name,
            function=function,
            lane=lane,
            timeout=timeout,
            retries=retries,
            schedulable=schedulable or bool(cron),
            cron=cron,
        )
        return function

    return register


@cache
def discover() -> None:
    """Load every app's `jobs.py`. Whoever is about to fork calls it: what is loaded is shared."""
    autodiscover_modules("jobs")


def names() -> tuple[str, ...]:
    discover()
    return tuple(_kinds)


def kinds() -> list[Kind]:
    discover()
    return sorted(_kinds.values(), key=lambda kind: kind.name)


def find(name: str) -> Kind | None:
    discover()
    return _kinds.get(name)


def kind_of(name: str) -> Kind:
    kind = find(name)
    if kind is None:
        raise Refusal(
            "unknown_kind",
            _("There is no work of the kind “%(kind)s”.") % {"kind": name},
            status=400,
        )
    return kind
