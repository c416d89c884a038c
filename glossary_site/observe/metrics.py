"""What can be counted, for Prometheus.

Work is done by many processes, which have one thing in common: the database. So whatever concerns
work is counted there, at the moment somebody asks. An app does that in a `metrics.py` of its own,
which is found by its name:

    @register
    def collect() -> Iterator[Metric]:
        yield gauge("glossary_jobs_running", "Jobs that run now.", JobRun.objects.running().count())

Only the requests that a web process answered are counted where they happen.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache

from django.utils.module_loading import autodiscover_modules
from prometheus_client import (
    CollectorRegistry,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

logger = logging.getLogger(__name__)

MODULE = "metrics"
# Asked more often than this, the database is not asked again.
FRESH_SECONDS = 2.0
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

Collect = Callable[[], Iterable[Metric]]
# One number, or one for each value of a label, or for each combination of several.
Values = float | Mapping[str, float] | Mapping[tuple[str, ...], float]

_collects: dict[str, Collect] = {}


def register(collect: Collect) -> Collect:
    """Ask this function, too. It is called by the name of its app."""
    _collects[collect.__module__.split(".")[-2]] = collect
    return collect


def gauge(name: str, words: str, values: Values, *labels: str) -> Metric:
    return _filled(GaugeMetricFamily(name, words, labels=labels), values)


def counter(name: str, words: str, values: Values, *labels: str) -> Metric:
    """A number that only grows. Prometheus adds `_total` to its name."""
    return _filled(CounterMetricFamily(name, words, labels=labels), values)


def _filled(family: GaugeMetricFamily | CounterMetricFamily, values: Values) -> Metric:
    for key, value in (values if isinstance(values, Mapping) else {(): values}).items():
        family.add_metric([key] if isinstance(key, str) else key, float(value))
    return family


class Apps(Collector):
    """What the apps count. A scraper that asks too often, or two that ask at once, are told what
    was counted a moment ago."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counted: list[Metric] = []
        self._until = 0.0

    def collect(self) -> Iterable[Metric]:
        with self._lock:
            if time.monotonic() >= self._until:
                self._counted = list(_ask_all())
                self._until = time.monotonic() + FRESH_SECONDS
            return self._counted

    def forget(self) -> None:
        self._until = 0.0


def _ask_all() -> Iterator[Metric]:
    """An app that fails is said to be down and does not take the others with it."""
    up: dict[str, float] = {}
    for app, collect in sorted(_collects.items()):
        try:
            counted = list(collect())
        except Exception:
            logger.exception("The metrics of %s could not be collected", app)
            up[app] = 0
        else:
            up[app] = 1
            yield from counted
    yield gauge("glossary_collector_up", "Whether an app could be asked.", up, "app")


# When a series began is one more line for each, which nobody reads.
disable_created_metrics()
registry = CollectorRegistry()
apps = Apps()
registry.register(apps)
ProcessCollector(namespace="glossary_web", registry=registry)
requests = Histogram(
    "glossary_http_request_seconds",
    "Time until a response began, by method and class of status.",
    ["method", "status"],
    registry=registry,
)


def count_request(method: str, status: int, seconds: float) -> None:
    # Anybody can invent a method; each would stay in memory for good.
    known = method if method in METHODS else "other"
    requests.labels(known, f"{status // 100}xx").observe(seconds)


def exposition() -> bytes:
    """Everything, as Prometheus reads it."""
    _find_collectors()
    return generate_latest(registry)


@cache
def _find_collectors() -> None:
    autodiscover_modules(MODULE)
