"""What django-q2 calls. It carries a row's number and nothing else; the row says what to do."""

import logging

from glossary_site.jobs import pulse
from glossary_site.jobs.session import job_session
from glossary_site.processes import identity

logger = logging.getLogger(__name__)


def deliver(run_id: int) -> None:
    if identity.stopping():
        # django-q2 brings what it had fetched before it stops. The sweep sends it again.
        return
    with job_session(run_id, worker=pulse.worker_name()) as session:
        if session is not None:
            session.perform()
