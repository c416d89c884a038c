"""Rows written past the ORM are the rows that the ORM would write."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest
from django.db import DataError, IntegrityError, connection

from glossary_site.inserting import NOTHING, copy, insert, replacing
from glossary_site.live.models import Event, Stream
from glossary_site.llm.models import LedgerEntry
from glossary_site.llm.models.process import SITE

pytestmark = pytest.mark.django_db
OVERWRITING = replacing(unique=("fingerprint", "apart"), columns=("base_url", "sendings"))


def entry(name: str, **fields) -> LedgerEntry:
    given = {"process_id": uuid4(), "custom_id": uuid4(), "sent_at": datetime.now(UTC)} | fields
    return LedgerEntry(fingerprint=name, **given)


def test_all_kinds_of_values_come_back_as_they_went_in():
    row = entry("one", sendings=3, base_url="https://例え.jp/?a=%s", cost_nano=2**40)
    insert([row])
    stored = LedgerEntry.objects.get()
    for field in LedgerEntry._meta.concrete_fields[1:]:
        assert getattr(stored, field.attname) == getattr(row, field.attname), field.name


def test_json_and_the_time_of_writing():
    stream = Stream.objects.create(name=SITE)
    insert([Event(stream=stream, number=1, type="x", payload={"名": ["a", None, 1.5]})])
    stored = Event.objects.get()
    assert stored.payload == {"名": ["a", None, 1.5]}
    assert abs((datetime.now(UTC) - stored.created_at).total_seconds()) < 60


@pytest.mark.skipif(connection.vendor == "sqlite", reason="looks at no lengths")
def test_nothing_is_cut_to_fit():
    with pytest.raises(DataError):
        insert([entry("x" * 65)])


def test_more_rows_than_a_statement_takes():
    insert([entry(str(number)) for number in range(1200)])
    assert LedgerEntry.objects.count() == 1200


def test_none():
    insert([])


def test_what_is_there_already():
    insert([entry("one", base_url="before")])
    insert([entry("one", base_url="after"), entry("two")], on_conflict=NOTHING)
    assert set(LedgerEntry.objects.values_list("base_url", flat=True)) == {"before", ""}
    insert([entry("one", base_url="after", model="other")], on_conflict=OVERWRITING)
    stored = LedgerEntry.objects.get(fingerprint="one")
    assert (stored.base_url, stored.model) == ("after", "")
    with pytest.raises(IntegrityError):
        insert([entry("one")])


def test_copies_differ_in_what_is_said_and_in_their_key_alone():
    given = entry("one", sendings=3, base_url="https://例え.jp/?a=%s")
    insert([given, entry("two")])
    copy(LedgerEntry.objects.filter(fingerprint="one"), apart="copy")
    before, after = LedgerEntry.objects.filter(fingerprint="one").order_by("apart").values()
    assert (before.pop("apart"), after.pop("apart")) == ("", "copy")
    assert before.pop("id") != after.pop("id")
    assert before == after
