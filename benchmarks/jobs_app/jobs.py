"""The kind of work that is measured. It is no part of the site."""

from benchmarks.jobs_marks import mark
from glossary_site.jobs.choices import Lane
from glossary_site.jobs.registry import job
from glossary_site.jobs.session import Session


@job("bench.no_op", lane=Lane.SHORT, timeout=60)
def no_op(session: Session, number: int) -> None:
    mark(number)
