"""A project's language model: the page, the endpoint, and what becomes of it with the project."""

import re

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from glossary_site.llm.choices import ProviderKind
from glossary_site.llm.models import Provider
from glossary_site.llm.providers import SITE, Origin, provider_for
from glossary_site.llm.services.providers import Wish, save_provider
from glossary_site.outbound.allowed import parse_allowed
from glossary_site.people.services import create_token
from projects.services.projects import clone_project, delete_project
from tests.llm_server import running_server

KEY = "sk-very-secret-4711"
SERVER = {
    "kind": "openai",
    "base_url": "http://127.0.0.1:11434/v1",
    "model": "small",
    "bulk_strategy": "sync",
    "concurrency": "8",
    "request_timeout": "120",
    "version": "0",
}


@pytest.fixture(autouse=True)
def loopback_is_open(settings):
    settings.PRIVATE_URLS_ALLOWED = parse_allowed(["127.0.0.1"])


@pytest.fixture
def page(project):
    return reverse("project-llm", args=[project.pk])


@pytest.fixture
def browser(owner, sign_in):
    return sign_in(owner)


def own(project) -> Provider | None:
    return Provider.objects.filter(scope=project.stream).first()


def ticked(response) -> str:
    (value,) = re.findall(r'name="kind" value="(\w+)" checked', response.content.decode())
    return value


# The page


def test_it_begins_with_what_the_site_has(browser, page, settings):
    response = browser.get(page)
    assert ticked(response) == "inherit"
    assert "Built-in engine" in response.content.decode()
    settings.LLM = settings.LLM | {"base_url": "http://127.0.0.1:1/v1", "model": "from-env"}
    response = browser.get(page)
    assert "from-env" in response.content.decode()
    assert "by its operator" in response.content.decode()


def test_a_server_is_saved_and_its_key_never_comes_back(browser, page, project):
    response = browser.post(page, SERVER | {"api_key": KEY}, follow=True)
    assert response.redirect_chain[-1][0] == page
    shown = response.content.decode()
    assert ticked(response) == "openai"
    assert "127.0.0.1:11434/v1" in shown
    assert "in this project" in shown
    assert KEY not in shown
    assert own(project).encrypted_key not in shown
    assert provider_for(project.stream).api_key == KEY
    # The form as it came, with another model: the key stays.
    browser.post(page, SERVER | {"model": "large", "version": "1"})
    assert provider_for(project.stream).model == "large"
    assert provider_for(project.stream).api_key == KEY


def test_a_key_is_forgotten_by_a_tick_or_by_another_address(browser, page, project):
    assert "clear_key" not in browser.get(page).content.decode()
    browser.post(page, SERVER | {"api_key": KEY})
    assert "clear_key" in browser.get(page).content.decode()
    browser.post(page, SERVER | {"clear_key": "on", "version": "1"})
    assert provider_for(project.stream).api_key == ""
    browser.post(page, SERVER | {"api_key": KEY, "version": "2"})
    elsewhere = SERVER | {"base_url": "http://127.0.0.1:9999/v1", "version": "3"}
    response = browser.post(page, elsewhere, follow=True)
    assert provider_for(project.stream).api_key == ""
    assert "was forgotten" in response.content.decode()


def test_back_to_the_site_s(browser, page, project):
    browser.post(page, SERVER | {"api_key": KEY})
    browser.post(page, SERVER | {"kind": "inherit", "version": "1"})
    assert own(project) is None
    assert provider_for(project.stream).origin is Origin.DEFAULT


def test_the_built_in_engine_against_the_site_s_choice(browser, page, project):
    wish = Wish(kind=ProviderKind.OPENAI, base_url=SERVER["base_url"], model="site-model")
    save_provider(scope=SITE, wish=wish, actor=None)
    assert "site-model" in browser.get(page).content.decode()
    browser.post(page, SERVER | {"kind": "builtin"})
    assert provider_for(project.stream).kind == ProviderKind.BUILTIN


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"base_url": ""}, "needs its address"),
        ({"model": ""}, "name of a model"),
        ({"base_url": "http://10.0.0.1/v1"}, "GLOSSARY_PRIVATE_URLS_ALLOWED"),
        ({"base_url": "http://169.254.169.254/"}, "never opens"),
        ({"api_key": "two words"}, "not a key"),
        ({"query": "nonsense"}, "name=value"),
        ({"concurrency": "0"}, "greater than or equal to 1"),
        ({"kind": "magic"}, "magic"),
        ({"version": ""}, ""),
    ],
)
def test_what_is_wrong_stands_beside_its_field_and_nothing_is_saved(
    browser, page, project, change, words
):
    response = browser.post(page, SERVER | {"api_key": KEY} | change)
    assert response.status_code == 422
    shown = response.content.decode()
    assert words in shown
    assert KEY not in shown
    assert own(project) is None
    assert "in again" in shown or "not a key" in shown


def test_whoever_was_slower_is_told(browser, page, project):
    browser.post(page, SERVER | {"model": "theirs"})
    response = browser.post(page, SERVER | {"model": "mine"})
    assert response.status_code == 422
    assert "Somebody else changed" in response.content.decode()
    assert provider_for(project.stream).model == "theirs"


def test_a_key_that_cannot_be_read_any_more_is_said(browser, page, settings):
    settings.ENCRYPTION_KEYS = ["o" * 40]
    browser.post(page, SERVER | {"api_key": KEY})
    assert "A key is stored" in browser.get(page).content.decode()
    settings.ENCRYPTION_KEYS = ["n" * 40]
    assert "can no longer be read" in browser.get(page).content.decode()


def test_the_button_tests_what_is_in_force(browser, page, project):
    with running_server() as server:
        browser.post(page, SERVER | {"base_url": server.base_url, "model": "peer-small"})
        url = reverse("project-llm-test", args=[project.pk])
        whole = browser.post(url).content.decode()
        assert "<html" in whole
        assert whole.count('class="report-ok"') == 7
        part = browser.post(url, headers={"HX-Request": "true"}).content.decode()
        assert "<html" not in part
        assert part.count('class="report-ok"') == 7
        assert "It works" in part
    broken = browser.post(url, headers={"HX-Request": "true"}).content.decode()
    assert "It does not work" in broken
    assert "nothing listens" in broken


# The endpoint


@pytest.fixture
def program(owner):
    client = APIClient()
    client.default_format = "json"
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {create_token(user=owner, name='tests')[1]}")
    return client


@pytest.fixture
def endpoint(project):
    return f"/api/projects/{project.pk}/llm-settings"


def test_it_is_read_written_and_taken_back(program, endpoint, project):
    none = program.get(endpoint).json()
    assert none["own"] is None
    assert none["in_force"]["origin"] == "default"
    wish = {"kind": "openai", "base_url": SERVER["base_url"] + "/", "model": "small"}
    prices = {"input_price": "0.15", "output_price": 0.6}
    response = program.put(endpoint, wish | prices | {"api_key": KEY})
    assert response.status_code == 200
    assert KEY not in response.content.decode()
    saved = response.json()
    assert saved == program.get(endpoint).json()
    assert saved["own"]["base_url"] == SERVER["base_url"]
    assert (saved["own"]["key"], saved["own"]["version"]) == ("stored", 1)
    assert saved["own"]["input_price"] == "0.150000"
    assert saved["in_force"] == {
        "origin": "scope",
        "kind": "openai",
        "model": "small",
        "bulk_strategy": "sync",
    }
    assert "encrypted_key" not in saved["own"]
    assert "api_key" not in saved["own"]
    # A PUT says everything anew, except for the key.
    again = program.put(endpoint, wish).json()["own"]
    assert (again["input_price"], again["key"]) == (None, "stored")
    assert program.delete(endpoint).status_code == 204
    assert program.delete(endpoint).status_code == 204
    assert program.get(endpoint).json() == none


def test_refusals_have_a_code_and_name_the_field(program, endpoint):
    private = program.put(
        endpoint, {"kind": "openai", "base_url": "http://10.0.0.1/v1", "model": "m"}
    )
    assert private.status_code == 400
    assert private.json()["code"] == "address_private"
    assert list(private.json()["fields"]) == ["base_url"]
    nothing = program.put(endpoint, {"kind": "openai"})
    assert (nothing.status_code, nothing.json()["code"]) == (400, "invalid")
    wrong = program.put(endpoint, {"kind": "builtin", "concurrency": 0})
    assert list(wrong.json()["fields"]) == ["concurrency"]


def test_the_version_that_was_seen_may_be_named(program, endpoint):
    assert program.put(endpoint, {"kind": "builtin", "version": 0}).status_code == 200
    late = program.put(endpoint, {"kind": "builtin", "concurrency": 3, "version": 0})
    assert (late.status_code, late.json()["code"]) == (409, "settings_changed")
    assert program.put(endpoint, {"kind": "builtin", "concurrency": 3, "version": 1}).json()


def test_the_key_s_state_is_told(program, endpoint, settings):
    wish = {"kind": "openai", "base_url": SERVER["base_url"], "model": "small"}
    assert program.put(endpoint, wish).json()["own"]["key"] == "none"
    program.put(endpoint, wish | {"api_key": KEY})
    settings.SECRET_KEY = "changed"
    assert program.get(endpoint).json()["own"]["key"] == "unreadable"
    settings.ENCRYPTION_KEYS = []
    assert program.put(endpoint, wish | {"clear_key": True}).json()["own"]["key"] == "none"


def test_a_test_is_a_report(program, endpoint):
    builtin = program.post(endpoint + "/test").json()
    assert builtin["ok"] is True
    with running_server() as server:
        server.configure(models=["alpha"])
        program.put(endpoint, {"kind": "openai", "base_url": server.base_url, "model": "beta"})
        report = program.post(endpoint + "/test").json()
    assert report["ok"] is False
    last = report["steps"][-1]
    assert (last["code"], last["outcome"]) == ("model", "failed")
    assert "alpha" in last["detail"]


# The project's life


@pytest.fixture
def with_key(project, owner):
    wish = Wish(kind=ProviderKind.OPENAI, base_url=SERVER["base_url"], model="small")
    save_provider(scope=project.stream, wish=wish, key=KEY, actor=owner)
    return project


def test_a_deleted_project_leaves_no_key_behind(with_key, owner):
    delete_project(project=with_key, actor=owner)
    assert not Provider.objects.exists()


def test_a_copy_does_not_take_the_key_along(with_key, viewer):
    """Whoever can read a project can copy it, and must not spend its owners' money."""
    copy = clone_project(project=with_key, actor=viewer, name="Copy")
    assert own(copy) is None


def test_the_change_is_news_of_the_project(with_key, browser):
    page = browser.get(reverse("project-activity", args=[with_key.pk])).content.decode()
    assert "language model" in page
    assert KEY not in page
