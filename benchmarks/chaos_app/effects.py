"""What a job's work leaves behind: a row for each step. Nothing keeps a row from being there twice,
so that twice would be seen."""

from django.db import connection

from glossary_site.jobs.session import Session


def add(session: Session, key: str, step: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO chaos_effect (key, step, run_id) VALUES (%s, %s, %s)",
            [key, step, session.run.pk],
        )


def steps_done(key: str) -> set[int]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT step FROM chaos_effect WHERE key = %s", [key])
        return {step for (step,) in cursor.fetchall()}
