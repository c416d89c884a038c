from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django_q.models import OrmQ

from glossary_site.jobs import doorbell
from glossary_site.jobs.leader import Leadership


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return tmp_path / "notes"


@pytest.fixture
def leader(db) -> Leadership:
    leadership = Leadership("test:keeper:1")
    assert leadership.hold()
    return leadership


@pytest.fixture
def brokers() -> Iterator[None]:
    """Empty queues before and after, whichever broker it is."""
    _purge()
    yield
    _purge()


def _purge() -> None:
    if django_settings.REDIS_URL:
        for lane in django_settings.LANES:
            doorbell.broker_of(lane).purge_queue()
    else:
        OrmQ.objects.all().delete()
