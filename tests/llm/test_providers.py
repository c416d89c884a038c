"""Who answers for whom, and how that is changed. A key goes in, and never comes out again."""

import threading
from dataclasses import replace
from decimal import Decimal

import pytest
from django.db import IntegrityError, connection, connections, transaction

from glossary_site.errors import Refusal
from glossary_site.jobs.models import AuditEntry
from glossary_site.live.models import Event
from glossary_site.llm.choices import ProviderKind, Strategy
from glossary_site.llm.models import Provider
from glossary_site.llm.providers import SITE, Origin, provider_for
from glossary_site.llm.services.providers import (
    InvalidSetting,
    Wish,
    clear_provider,
    save_provider,
)
from glossary_site.outbound.allowed import parse_allowed

pytestmark = pytest.mark.django_db

SCOPE = "project:7"
SERVER = Wish(kind=ProviderKind.OPENAI, base_url="http://127.0.0.1:11434/v1", model="small")
ENGINE = Wish(kind=ProviderKind.BUILTIN)
KEY = "sk-very-secret-4711"


@pytest.fixture(autouse=True)
def loopback_is_open(settings):
    settings.PRIVATE_URLS_ALLOWED = parse_allowed(["127.0.0.0/8"])


def save(wish=SERVER, *, scope=SCOPE, actor=None, **options) -> Provider:
    return save_provider(scope=scope, wish=wish, actor=actor, **options)


def refusal(wish=SERVER, **options) -> InvalidSetting:
    with pytest.raises(InvalidSetting) as refused:
        save(wish, **options)
    assert not Provider.objects.exists()
    return refused.value


# Which one applies


def test_nobody_chose_anything():
    config = provider_for(SCOPE)
    assert (config.origin, config.kind) == (Origin.DEFAULT, ProviderKind.BUILTIN)


def test_the_nearest_choice_counts(settings):
    settings.LLM = settings.LLM | {"base_url": "http://localhost:1/v1/", "model": "from-env"}
    config = provider_for(SCOPE)
    assert (config.origin, config.model) == (Origin.ENVIRONMENT, "from-env")
    assert config.base_url == "http://localhost:1/v1"
    save(replace(SERVER, model="of-the-site"), scope=SITE)
    config = provider_for(SCOPE)
    assert (config.origin, config.model) == (Origin.SITE, "of-the-site")
    save(replace(SERVER, model="its-own"))
    config = provider_for(SCOPE)
    assert (config.origin, config.model) == (Origin.SCOPE, "its-own")
    assert provider_for("project:8").model == provider_for(SITE).model == "of-the-site"
    save(ENGINE)
    assert provider_for(SCOPE).kind == ProviderKind.BUILTIN


def test_one_that_is_switched_off_is_passed_over():
    save(replace(SERVER, model="of-the-site"), scope=SITE)
    save(replace(SERVER, enabled=False))
    assert provider_for(SCOPE).model == "of-the-site"


def test_only_the_operator_s_own_words_may_name_a_private_host(settings):
    settings.LLM = settings.LLM | {"base_url": "http://localhost:1/v1", "model": "m"}
    assert provider_for(SITE).allow_private
    save()
    save(scope=SITE)
    assert not provider_for(SCOPE).allow_private
    assert not provider_for(SITE).allow_private


def test_everything_that_was_saved_comes_back():
    wish = Wish(
        kind=ProviderKind.OPENAI,
        base_url="http://127.0.0.1:8000/v1",
        query="api-version=1",
        model="large",
        bulk_strategy=Strategy.BATCH,
        concurrency=3,
        request_timeout=30,
        input_price=Decimal("0.15"),
        output_price=Decimal("0.6"),
        context_tokens=128_000,
        output_tokens=4_000,
    )
    save(wish, key=KEY)
    config = provider_for(SCOPE)
    assert (config.strategy, config.concurrency, config.timeout) == (Strategy.BATCH, 3, 30)
    assert (config.input_price, config.output_price) == (Decimal("0.15"), Decimal("0.6"))
    assert (config.context_tokens, config.output_tokens) == (128_000, 4_000)
    assert (config.query, config.api_key) == ("api-version=1", KEY)


# The key


def test_a_key_is_kept_encrypted_and_shows_nowhere():
    row = save(key=KEY)
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM llm_provider")
        stored = repr(cursor.fetchall())
    config = provider_for(SCOPE)
    assert config.api_key == KEY
    everywhere = [stored, repr(config), str(config), repr(row), str(row)]
    everywhere += [repr(list(Event.objects.values())), repr(list(AuditEntry.objects.values()))]
    assert all(KEY not in place for place in everywhere)
    assert row.encrypted_key not in "".join(everywhere[1:])


def test_a_blank_key_keeps_the_stored_one_and_only_a_word_removes_it():
    save(key=KEY)
    save(replace(SERVER, model="other"), key="  ")
    assert provider_for(SCOPE).api_key == KEY
    save(key="sk-new")
    assert provider_for(SCOPE).api_key == "sk-new"
    save(clear_key=True)
    assert provider_for(SCOPE).api_key == ""


@pytest.mark.parametrize(
    "address",
    ["http://127.0.0.1:11435/v1", "http://127.0.0.2:11434/v1", "http://127.0.0.1:11434/other"],
)
def test_a_key_never_follows_to_another_address(address):
    save(key=KEY)
    save(replace(SERVER, base_url=address))
    assert provider_for(SCOPE).api_key == ""
    save(replace(SERVER, base_url=address), key="sk-for-that")
    assert provider_for(SCOPE).api_key == "sk-for-that"


def test_the_same_address_in_another_spelling_keeps_the_key():
    save(key=KEY)
    save(replace(SERVER, base_url=" HTTP://127.0.0.1:11434/v1/ "))
    assert provider_for(SCOPE).api_key == KEY


def test_the_built_in_engine_has_no_key():
    save(key=KEY)
    row = save(replace(ENGINE, base_url="http://127.0.0.1/", model="left over"), key="sk-x")
    assert (row.encrypted_key, row.base_url, row.model) == ("", "", "")


def test_a_key_that_cannot_be_read_is_said_and_not_sent(settings):
    save(key=KEY)
    settings.SECRET_KEY = "changed"
    config = provider_for(SCOPE)
    assert config.key_unreadable
    assert config.api_key == ""
    save(key="sk-again")
    assert provider_for(SCOPE).api_key == "sk-again"
    assert not provider_for(SCOPE).key_unreadable


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "ключ", "x" * 1001, "a\0b"])
def test_what_is_no_key_is_refused(key):
    assert refusal(key=key).field == "api_key"


# Refused


@pytest.mark.parametrize(
    ("change", "field", "code"),
    [
        ({"base_url": ""}, "base_url", "invalid"),
        ({"model": " "}, "model", "invalid"),
        ({"base_url": "ollama:11434"}, "base_url", "url_scheme"),
        ({"base_url": "http://me:pw@127.0.0.1/"}, "base_url", "url_credentials"),
        ({"base_url": "http://10.0.0.1/v1"}, "base_url", "address_private"),
        ({"base_url": "http://169.254.169.254/v1"}, "base_url", "address_forbidden"),
        ({"base_url": "http://model.invalid/v1"}, "base_url", "host_unknown"),
        ({"concurrency": 0}, "concurrency", "invalid"),
        ({"concurrency": 1000}, "concurrency", "invalid"),
        ({"request_timeout": 0}, "request_timeout", "invalid"),
        ({"input_price": Decimal("-1")}, "input_price", "invalid"),
        ({"output_price": Decimal("1e9")}, "output_price", "invalid"),
        ({"context_tokens": 0}, "context_tokens", "invalid"),
        ({"kind": "magic"}, "kind", "invalid"),
        ({"query": "nonsense"}, "query", "invalid"),
        ({"query": "api-key=sk-1"}, "query", "invalid"),
        ({"model": "x" * 300}, "model", "invalid"),
    ],
)
def test_what_cannot_be_is_refused_with_its_field(change, field, code):
    invalid = refusal(replace(SERVER, **change))
    assert (invalid.field, invalid.code, invalid.status) == (field, code, 400)
    assert invalid.details["fields"] == {field: [str(invalid)]}


def test_azure_s_address_may_be_pasted_with_its_query():
    row = save(replace(SERVER, base_url="http://127.0.0.1/openai/deployments/x/?api-version=2024"))
    assert (row.base_url, row.query) == (
        "http://127.0.0.1/openai/deployments/x",
        "api-version=2024",
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"scope": "", "kind": "builtin"},
        {"scope": "a", "kind": "magic"},
        {"scope": "a", "kind": "openai"},
        {"scope": "a", "kind": "openai", "base_url": "http://x"},
        {"scope": "a", "kind": "builtin", "encrypted_key": "left over"},
        {"scope": "a", "concurrency": 0},
        {"scope": "a", "request_timeout": 0},
        {"scope": "a", "input_price": -1},
        {"scope": "a", "context_tokens": 0},
        {"scope": "a", "bulk_strategy": "magic"},
    ],
)
def test_the_database_refuses_them_too(fields):
    with pytest.raises(IntegrityError), transaction.atomic():
        Provider.objects.create(**fields)


# Changes


def test_whoever_saves_over_an_unseen_change_is_told():
    row = save(version=0)
    save(replace(SERVER, model="theirs"), version=row.version)
    with pytest.raises(Refusal) as refused:
        save(replace(SERVER, model="mine"), version=row.version)
    assert (refused.value.code, refused.value.status) == ("settings_changed", 409)
    with pytest.raises(Refusal):
        save(version=0)
    assert provider_for(SCOPE).model == "theirs"


def test_saving_what_is_there_changes_nothing():
    row = save(replace(SERVER, input_price=Decimal("0.50")), key=KEY)
    again = save(replace(SERVER, input_price=Decimal("0.5")))
    assert again.version == row.version == 1
    assert Event.objects.count() == AuditEntry.objects.count() == 1


def test_every_change_is_news_and_in_the_audit(owner):
    save(key=KEY, actor=owner)
    save(replace(SERVER, model="large"), actor=owner)
    assert clear_provider(scope=SCOPE, actor=owner)
    assert not clear_provider(scope=SCOPE, actor=owner)
    events = Event.objects.filter(stream__name=SCOPE).order_by("number")
    assert [event.type for event in events] == ["llm.settings_changed"] * 3
    assert events[1].payload == {"changed": ["model"], "by": "olive"}
    entries = list(AuditEntry.objects.order_by("pk"))
    actions = [entry.action for entry in entries]
    assert actions == ["create", "change", "delete"]
    assert {entry.actor for entry in entries} == {"olive"}
    assert (entries[0].before, entries[0].after["key"]) == ({}, "new")
    assert (entries[1].before, entries[1].after) == ({"model": "small"}, {"model": "large"})
    assert (entries[2].before["key"], entries[2].after) == ("stored", {})


def test_a_new_key_alone_is_a_change():
    row = save(key=KEY)
    assert save(key="sk-new").version == row.version + 1


def test_a_scope_that_is_cleared_keeps_no_key():
    save(key=KEY)
    clear_provider(scope=SCOPE, actor=None)
    assert provider_for(SCOPE).origin is Origin.DEFAULT
    save()
    assert provider_for(SCOPE).api_key == ""


@pytest.mark.django_db(transaction=True)
def test_of_two_people_who_save_at_once_one_is_told():
    outcomes = []
    start = threading.Barrier(4)

    def person(number):
        start.wait()
        try:
            save(replace(SERVER, model=f"model-{number}"), version=0)
            outcomes.append("saved")
        except Refusal as refused:
            outcomes.append(refused.code)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=person, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["saved", *["settings_changed"] * 3]
