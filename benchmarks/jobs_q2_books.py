"""django-q2 saves and acknowledges in a process of its own, long after a job has begun. Only then
is it done with, as ours is when its row has ended."""

from django.apps import AppConfig

from benchmarks.jobs_marks import mark_booked


class Books(AppConfig):
    name = "benchmarks.jobs_q2_books"

    def ready(self) -> None:
        from django_q.signals import post_execute

        post_execute.connect(close_books)


def close_books(**_: object) -> None:
    mark_booked()
