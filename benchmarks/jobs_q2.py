"""Raw django-q2, with the settings in jobs_peer_settings.py."""

from django.core.management import call_command
from django_q.tasks import async_task


def prepare() -> None:
    call_command("migrate", verbosity=0)


def enqueue(number: int) -> None:
    async_task("benchmarks.jobs_marks.mark", number)
