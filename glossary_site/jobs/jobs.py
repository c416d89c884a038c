"""What the site does to keep its own house. An operator may move the hours, or switch it off."""

from typing import Any

from glossary_site.jobs.choices import Lane
from glossary_site.jobs.registry import job
from glossary_site.jobs.services import logs, retention
from glossary_site.jobs.session import Session
from glossary_site.live.services import prune_events

# Each of them goes on where it was stopped: another attempt costs nothing.
LONGEST_SECONDS = 3600


@job("site.prune_live_events", lane=Lane.LONG, timeout=LONGEST_SECONDS, cron="17 3 * * *")
def prune_live_events(session: Session) -> dict[str, Any]:
    return {"removed": prune_events(check=session.check)}


@job("site.move_old_logs", lane=Lane.LONG, timeout=LONGEST_SECONDS, cron="27 3 * * *")
def move_old_logs(session: Session) -> dict[str, Any]:
    return {"runs": logs.move_old_logs(check=session.check)}


@job("site.remove_old_jobs", lane=Lane.LONG, timeout=LONGEST_SECONDS, cron="37 3 * * *")
def remove_old_jobs(session: Session) -> dict[str, Any]:
    return retention.remove_old_rows(check=session.check)
