"""What is measured beside what: the systems, how their workers start, and where they keep jobs.

Each runs two worker processes, as its documentation starts them.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

# Never in the site's own requirements: these live in a virtualenv that goes with the run.
PEERS = [
    "django==5.2.19",
    "django-q2==1.11.1",
    "psycopg[binary,pool]==3.3.8",
    "redis==8.1.0",
    "procrastinate==3.10.0",
    "huey==3.5.4",
    "celery==5.7.0",
    "django-tasks==0.12.0",
    "django-tasks-db==0.13.0",
]
SQLITE, POSTGRES, REDIS = "SQLite", "PostgreSQL", "PostgreSQL + Redis"
STORES = (SQLITE, POSTGRES, REDIS)
OURS, TUNED = "ours", "django-q2 tuned"


@dataclass(frozen=True)
class System:
    name: str
    stores: str
    # Has prepare() and enqueue(); see jobs_producer.py.
    module: str
    # What follows `python` in the command of each worker.
    workers: list[list[str]]
    environment: dict[str, str] = field(default_factory=dict)
    # The quick ones get more jobs, so that there is something to measure; the slow ones fewer, so
    # that they do not take all the time.
    times: float = 1
    # It closes its books later, and says so with a mark.
    books: bool = False
    python: str = sys.executable


def systems(peers_python: str) -> Iterator[System]:
    for stores in STORES:
        yield System(
            name=OURS,
            stores=stores,
            module="benchmarks.jobs_ours",
            workers=[["manage.py", "worker"]],
            environment={
                "DJANGO_SETTINGS_MODULE": "benchmarks.jobs_settings",
                # The producer comes before the worker, which would make the key: without one in
                # common every delivery is refused, and the sweep's second one is measured.
                "GLOSSARY_SECRET_KEY": "bench" * 10,
            },
        )
    for peer in _peers():
        yield System(**peer, python=peers_python)


def _peers() -> Iterator[dict]:
    settings = {"DJANGO_SETTINGS_MODULE": "benchmarks.jobs_peer_settings"}
    for stores in STORES:
        for name, queue, times in (
            (TUNED, "q2-tuned", 1),
            ("django-q2 defaults", "q2-default", 0.25),
        ):
            yield {
                "name": name,
                "stores": stores,
                "module": "benchmarks.jobs_q2",
                "workers": [["-m", "django", "qcluster"]],
                "environment": {**settings, "BENCH_QUEUE": queue},
                "times": times,
                "books": True,
            }
    for stores in (SQLITE, POSTGRES):
        yield {
            "name": "django-tasks-db",
            "stores": stores,
            "module": "benchmarks.jobs_django_tasks",
            "workers": [["-m", "django", "db_worker"]] * 2,
            "environment": {**settings, "BENCH_QUEUE": "django-tasks"},
            "times": 0.5,
        }
    yield {
        "name": "procrastinate",
        "stores": POSTGRES,
        "module": "benchmarks.jobs_procrastinate",
        "workers": [
            ["-m", "procrastinate", "-a", "benchmarks.jobs_procrastinate.app", "worker", "-c", "1"]
        ]
        * 2,
    }
    consumer = ["-m", "huey.bin.huey_consumer", "benchmarks.jobs_huey.huey", "-k", "process"]
    for stores in (SQLITE, REDIS):
        yield {
            "name": "huey",
            "stores": stores,
            "module": "benchmarks.jobs_huey",
            "workers": [[*consumer, "-w", "2", "-q"]],
            "times": 5,
        }
    yield {
        "name": "celery",
        "stores": REDIS,
        "module": "benchmarks.jobs_celery",
        "workers": [
            ["-m", "celery", "-A", "benchmarks.jobs_celery", "worker", "-c", "2", "-l", "WARNING"]
        ],
        "times": 2,
    }
