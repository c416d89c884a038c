"""What the live feed is told about processes. Nothing here is the truth: the rows are."""

from collections.abc import Sequence
from typing import Any

from django.db import connection

from glossary_site.jobs.models import JobRun
from glossary_site.live.services import publish_all
from glossary_site.llm.models import LLMProcess

PROGRESS = "llm.progress"
CHANGED = "llm.changed"


def progress(process: LLMProcess, steps: Sequence[dict[str, Any]]) -> None:
    """One event for each of them. Call it last in a transaction."""
    if steps:
        _publish(process, _steps(process, steps))


def changed(process: LLMProcess, steps: Sequence[dict[str, Any]] = ()) -> None:
    """With the last steps that led to it. Call it last in a transaction."""
    fact = process.facts() | {"notice": str(process.notice)}
    _publish(process, [*_steps(process, steps), (CHANGED, fact)])


def _steps(
    process: LLMProcess, steps: Sequence[dict[str, Any]]
) -> list[tuple[str, dict[str, Any]]]:
    return [(PROGRESS, process.facts() | step) for step in steps]


def _publish(process: LLMProcess, news: list[tuple[str, dict[str, Any]]]) -> None:
    """The feed comes last: whoever ends the run locks its row first and the feed then, and two that
    do it the other way round would wait for each other."""
    if process.run_id is not None and connection.features.has_select_for_update:
        JobRun.objects.select_for_update().filter(pk=process.run_id).values_list("pk").first()
    publish_all(process.stream, news)
