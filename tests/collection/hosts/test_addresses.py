"""Addresses as people copy them."""

import pytest

from collection.choices import Kind
from collection.origins.hosted import clean_hosted, place_of
from glossary_site.errors import Refusal
from glossary_site.outbound import guard

PROJECT = "https://gitlab.example.com/group/sub/project"
REPOSITORY = "https://github.com/owner/name"


@pytest.fixture(autouse=True)
def every_name_is_known(monkeypatch):
    def found(host, port, **options):
        if host[0].isdigit():
            address = host
        else:
            address = "10.0.0.1" if host == "intern.example" else "192.0.43.8"
        return [(0, 0, 0, "", (address, port))]

    monkeypatch.setattr(guard.socket, "getaddrinfo", found)


@pytest.mark.parametrize(
    "text",
    [
        PROJECT,
        f"  {PROJECT}  ",
        f"{PROJECT}/",
        f"{PROJECT}.git",
        f"{PROJECT}.git/",
        f"{PROJECT}/-/tree/main",
        f"{PROJECT}/-/blob/main/docs/a.md#L10",
        f"{PROJECT}/-/commits/main?ref_type=heads",
        "https://GitLab.Example.com:443/group/sub/project",
        "gitlab.example.com/group/sub/project",
        "https://gitlab.example.com//group/sub/project",
    ],
)
def test_gitlab(text):
    assert clean_hosted(Kind.GITLAB, text) == PROJECT


@pytest.mark.parametrize(
    "text",
    [
        REPOSITORY,
        f"{REPOSITORY}.git",
        f"{REPOSITORY}/",
        f"{REPOSITORY}/tree/main/docs",
        f"{REPOSITORY}/pull/7#issuecomment-1",
        f"{REPOSITORY}?tab=readme-ov-file#usage",
        "https://www.github.com/owner/name",
        "github.com/owner/name",
    ],
)
def test_github(text):
    assert clean_hosted(Kind.GITHUB, text) == REPOSITORY


def test_at_home():
    """Other ports, plain http, and names with all that hosts allow."""
    for text in ("http://git.example.com:8080/a.b/c-d_e", "https://ghe.example.com/Own-er/na.me+x"):
        assert clean_hosted(Kind.GITHUB, text) == text
        assert clean_hosted(Kind.GITLAB, text) == text


@pytest.mark.parametrize(
    ("kind", "text", "code"),
    [
        (Kind.GITLAB, "https://gitlab.example.com/group", "not_a_project_address"),
        (Kind.GITLAB, "https://gitlab.example.com/", "not_a_project_address"),
        (Kind.GITLAB, "https://gitlab.example.com/-/profile", "not_a_project_address"),
        (Kind.GITLAB, "https://gitlab.example.com/a/%2e%2e/b", "not_a_project_address"),
        (Kind.GITLAB, "https://gitlab.example.com/a/b%00c", "not_a_project_address"),
        (Kind.GITLAB, "https://gitlab.example.com/a/b%2Fc", "not_a_project_address"),
        (Kind.GITLAB, "https://gitlab.example.com" + "/a" * 40, "not_a_project_address"),
        (Kind.GITLAB, "https://gitlab.example.com/a/.git", "not_a_project_address"),
        (Kind.GITHUB, "https://github.com/owner", "not_a_project_address"),
        (Kind.GITHUB, "https://github.com/owner/--upload-pack=x", "not_a_project_address"),
        (Kind.GITHUB, "https://github.com/owner/a b", "url_invalid"),
        (Kind.GITHUB, "https://user:secret@github.com/owner/name", "url_credentials"),
        (Kind.GITHUB, "https://token@github.com/owner/name", "url_credentials"),
        (Kind.GITHUB, "git@github.com:owner/name.git", "url_scheme"),
        (Kind.GITHUB, "ssh://git@github.com/owner/name", "url_scheme"),
        (Kind.GITHUB, "file:///etc/passwd", "url_scheme"),
        (Kind.GITHUB, "", "url_invalid"),
        (Kind.GITHUB, "https://github.com:22/owner/name", "url_port"),
        (Kind.GITLAB, "https://intern.example/group/project", "address_private"),
        (Kind.GITLAB, "https://169.254.169.254/group/project", "address_forbidden"),
    ],
)
def test_refused(kind, text, code):
    with pytest.raises(Refusal) as raised:
        clean_hosted(kind, text)
    assert raised.value.status == 400
    assert raised.value.code == code
    assert "secret" not in str(raised.value)


def test_a_place_is_read_without_asking_anybody(monkeypatch):
    monkeypatch.setattr(guard.socket, "getaddrinfo", None)
    place = place_of(Kind.GITLAB, PROJECT)
    assert (place.host, place.project) == ("gitlab.example.com", "group/sub/project")
