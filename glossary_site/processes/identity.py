"""Who this process is, for whoever has to sign with it: its node (one `manage.py worker`) and its
lane. Set once, in the fork that a cluster or the keeper begins as; its own forks inherit it."""

import os
from pathlib import Path

NOBODY = "command"

_node = NOBODY
_lane = NOBODY
_stopping: Path | None = None


def assume(*, node: str, lane: str, stopping: Path) -> None:
    global _node, _lane, _stopping
    _node, _lane, _stopping = node, lane, stopping


def node() -> str:
    """The `manage.py worker` that this process belongs to, such as “host/worker-x1y2z3”."""
    return _node


def lane() -> str:
    """“short” or “long” in a cluster's processes, “keeper” in the keeper, “command” elsewhere."""
    return _lane


def stopping() -> bool:
    """Whether the worker was asked to stop: begin nothing more, and come to an end."""
    return _stopping is not None and os.path.exists(_stopping)
