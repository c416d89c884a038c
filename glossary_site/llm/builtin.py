"""The engine within the site: functions that answer without a network, each for one task.

Apps register theirs when they are loaded. A task that nobody registered has no answer.
"""

from collections.abc import Callable
from typing import Any

from glossary_site.llm.requests import Request

# Gives a text, or anything that can be written as JSON.
Builtin = Callable[[Request], Any]

_tasks: dict[str, Builtin] = {}


class NoSuchTask(Exception):
    """Its text is for people."""


def register_builtin(task: str, function: Builtin) -> None:
    if task in _tasks:
        raise RuntimeError(f"There are two built-in engines for the task {task}")
    _tasks[task] = function


def answer(request: Request) -> Any:
    function = _tasks.get(request.task)
    if function is None:
        named = f"the task “{request.task}”" if request.task else "a request that names no task"
        raise NoSuchTask(f"The built-in engine cannot answer {named}. Choose a provider that can.")
    return function(request)
