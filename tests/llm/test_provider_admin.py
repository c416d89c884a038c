"""Operators choose the site's provider in the administration; the service does the writing."""

import pytest
from django.urls import reverse

from glossary_site.llm.models import Provider
from glossary_site.llm.providers import SITE, provider_for
from glossary_site.outbound.allowed import parse_allowed
from tests import factories

KEY = "sk-very-secret-4711"
FIELDS = {
    "scope": "site",
    "enabled": "on",
    "kind": "openai",
    "base_url": "http://127.0.0.1:11434/v1/",
    "model": "small",
    "bulk_strategy": "sync",
    "concurrency": "8",
    "request_timeout": "120",
}
ADD = "admin:llm_provider_add"


@pytest.fixture(autouse=True)
def loopback_is_open(settings):
    settings.PRIVATE_URLS_ALLOWED = parse_allowed(["127.0.0.1"])


@pytest.fixture
def operator(superuser, sign_in):
    return sign_in(superuser)


def address(name="change"):
    return reverse(f"admin:llm_provider_{name}", args=[Provider.objects.get().pk])


def test_the_site_s_provider_is_made_changed_and_deleted(operator):
    assert 'value="site"' in operator.get(reverse(ADD)).content.decode()
    assert operator.post(reverse(ADD), FIELDS | {"api_key": KEY}).status_code == 302
    config = provider_for(SITE)
    assert (config.base_url, config.api_key) == ("http://127.0.0.1:11434/v1", KEY)
    shown = operator.get(address()).content.decode()
    shown += operator.get(reverse("admin:llm_provider_changelist")).content.decode()
    shown += operator.get(address("history")).content.decode()
    assert KEY not in shown
    assert Provider.objects.get().encrypted_key not in shown
    assert operator.post(address(), FIELDS | {"model": "large"}).status_code == 302
    assert (provider_for(SITE).model, provider_for(SITE).api_key) == ("large", KEY)
    assert Provider.objects.get().version == 2
    assert operator.post(address("delete"), {"post": "yes"}).status_code == 302
    assert not Provider.objects.exists()


def test_several_are_deleted_at_once(operator):
    operator.post(reverse(ADD), FIELDS)
    operator.post(reverse(ADD), FIELDS | {"scope": "project:7"})
    chosen = {
        "action": "delete_selected",
        "_selected_action": list(Provider.objects.values_list("pk", flat=True)),
        "post": "yes",
    }
    assert operator.post(reverse("admin:llm_provider_changelist"), chosen).status_code == 302
    assert not Provider.objects.exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"base_url": "http://10.0.0.1/v1"}, "GLOSSARY_PRIVATE_URLS_ALLOWED"),
        ({"base_url": ""}, "needs its address"),
        ({"api_key": "two words"}, "not a key"),
        ({"concurrency": "0"}, "greater than or equal to 1"),
    ],
)
def test_what_is_wrong_is_said(operator, change, words):
    response = operator.post(reverse(ADD), FIELDS | change)
    assert response.status_code == 200
    assert words in response.content.decode()
    assert not Provider.objects.exists()


def test_a_second_one_for_the_same_scope_is_refused(operator):
    operator.post(reverse(ADD), FIELDS)
    assert operator.post(reverse(ADD), FIELDS | {"model": "large"}).status_code == 200
    assert provider_for(SITE).model == "small"


def test_left_over_fields_of_a_server_do_not_hinder_the_engine(operator):
    operator.post(reverse(ADD), FIELDS | {"api_key": KEY})
    assert operator.post(address(), FIELDS | {"kind": "builtin"}).status_code == 302
    row = Provider.objects.get()
    assert (row.kind, row.base_url, row.encrypted_key) == ("builtin", "", "")


def test_a_row_never_changes_its_scope(operator):
    operator.post(reverse(ADD), FIELDS | {"api_key": KEY})
    operator.post(address(), FIELDS | {"scope": "project:7"})
    assert Provider.objects.get().scope == "site"


def test_the_button_tests_the_connection(operator, llm_server):
    operator.post(reverse(ADD), FIELDS | {"base_url": llm_server.base_url, "model": "peer-small"})
    assert address("test") in operator.get(address()).content.decode()
    whole = operator.post(address("test")).content.decode()
    assert "<html" in whole
    assert "It works" in whole
    part = operator.post(address("test"), headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part
    assert part.count('class="report-ok"') == 7
    assert operator.get(address("test")).status_code == 405


def test_staff_without_the_power_have_no_part_in_it(operator, sign_in):
    operator.post(reverse(ADD), FIELDS)
    staff = sign_in(factories.make_user("stan", is_staff=True))
    assert staff.get(reverse(ADD)).status_code == 403
    assert staff.post(address("test")).status_code == 403
    assert staff.post(address(), FIELDS | {"model": "large"}).status_code == 403
    assert provider_for(SITE).model == "small"
