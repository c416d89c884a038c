"""django-tasks with its database backend."""

from django.core.management import call_command
from django_tasks import task

from benchmarks.jobs_marks import mark


@task()
def no_op(number: int) -> None:
    mark(number)


def prepare() -> None:
    call_command("migrate", verbosity=0)


def enqueue(number: int) -> None:
    no_op.enqueue(number)
