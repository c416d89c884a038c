"""The lanes: worker processes for short work and for long work, which never wait for each other.
Each is a django-q2 cluster with a queue of its own."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django_q.conf import Conf

SHORT = "short"


@dataclass(frozen=True)
class Lane:
    name: str
    workers: int

    @property
    def cluster(self) -> str:
        """django-q2's name for it."""
        default: str = Conf.PREFIX
        return default if self.name == SHORT else f"{default}-{self.name}"

    @property
    def slots(self) -> int | None:
        """Where tasks are long, one taken in advance would wait for hours here while another host
        is free. Where they are short, the next one should be at hand."""
        return None if self.name == SHORT else self.workers

    def enter(self) -> None:
        """Make this process a part of the lane's cluster. django-q2 would do the same, had the
        program been started with the cluster's name in its environment."""
        Conf.CLUSTER_NAME = self.cluster
        options: dict[str, Any] = Conf.conf["ALT_CLUSTERS"].get(self.cluster, {})
        for name, value in options.items():
            setattr(Conf, name.upper(), value)


def lanes() -> list[Lane]:
    return [Lane(name, workers) for name, workers in settings.LANES.items()]
