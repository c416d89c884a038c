"""What the live feed is told about processes. Nothing here is the truth: the rows are."""

from collections.abc import Sequence
from typing import Any

from django.db import connection

from glossary_site.jobs.models import JobRun
from glossary_site.live.services import publish_all
from glossary_site.llm.models import LLMProcess

PROGRESS = "llm.progress"
CHANGED = "llm.changed"


def hold_run(process: LLMProcess) -> None:
    """Before a feed is locked: whoever ends the run locks its row first and the feed then, and two
    that do it the other way round would wait for each other."""
    if process.run_id is not None and connection.features.has_select_for_update:
        JobRun.objects.select_for_update().filter(pk=process.run_id).values_list("pk").first()


def progress(process: LLMProcess, steps: Sequence[dict[str, Any]]) -> None:
    """One event for each of them. Call it last in a transaction."""
    if steps:
        hold_run(process)
        publish_all(process.stream, [(PROGRESS, process.facts() | step) for step in steps])


def changed(process: LLMProcess) -> None:
    """Call it last in a transaction."""
    hold_run(process)
    publish_all(process.stream, [(CHANGED, process.facts() | {"notice": str(process.notice)})])
