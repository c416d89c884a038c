"""The site's own work: a row, a lease and a fenced end for each job."""

from django.core.management import call_command

from glossary_site.jobs.services.enqueue import enqueue as enqueue_run


def prepare() -> None:
    call_command("migrate", verbosity=0)


def enqueue(number: int) -> None:
    enqueue_run("bench.no_op", {"number": number})
