"""The address of a project at GitLab or GitHub, as people copy it, in its one spelling."""

import re
from dataclasses import dataclass
from urllib.parse import unquote

from django.utils.translation import gettext as _

from collection.choices import Kind
from glossary_site.errors import Refusal
from glossary_site.outbound.guard import WEB, check_url
from glossary_site.outbound.urls import Url, parse_url

# What both hosts allow in the names of people, groups and projects, and more.
PART = re.compile(r"[\w.][\w.+-]{0,254}")
# GitHub shows the parts of a project behind its name.
GITHUB_PARTS = 2
# GitLab nests groups this deep, and the project itself.
GITLAB_MOST_PARTS = 21
GITHUB = "github.com"


@dataclass(frozen=True)
class Place:
    """Where a project is: the host, and its way there."""

    url: Url
    parts: tuple[str, ...]

    @property
    def project(self) -> str:
        return "/".join(self.parts)

    @property
    def host(self) -> str:
        return self.url.host

    def __str__(self) -> str:
        return f"{self.url.origin}/{self.project}"


def clean_hosted(kind: str, text: str) -> str:
    """ "https://gitlab.example.com/group/sub/project", "https://github.com/owner/name".

    Raises a Refusal with 400: the guard's own, or `not_a_project_address`."""
    place = place_of(kind, text)
    check_url(place.url.origin)
    return str(place)


def place_of(kind: str, text: str) -> Place:
    """Reads an address; asks nobody whether the host is there."""
    text = text.strip()
    if "://" not in text and re.match(r"[\w-]+(\.[\w-]+)+/", text):
        text = f"https://{text}"  # as browsers show it
    # A link into a page ("#L20") names the same project.
    url = parse_url(text.partition("#")[0], schemes=WEB)
    parts = [unquote(part) for part in url.path.split("/") if part]
    parts = _github(parts) if kind == Kind.GITHUB else _gitlab(parts)
    if not parts or not all(PART.fullmatch(part) and part != ".." for part in parts):
        raise _no_project(kind)
    if kind == Kind.GITHUB and url.host == f"www.{GITHUB}":
        url = parse_url(f"{url.scheme}://{GITHUB}", schemes=WEB)
    return Place(url, tuple(parts))


def _github(parts: list[str]) -> list[str]:
    if len(parts) < GITHUB_PARTS:
        return []
    owner, name = parts[:GITHUB_PARTS]
    return [owner, name.removesuffix(".git")]


def _gitlab(parts: list[str]) -> list[str]:
    # Behind the name of the project, all that GitLab shows of it begins with "-".
    if "-" in parts:
        parts = parts[: parts.index("-")]
    if not 2 <= len(parts) <= GITLAB_MOST_PARTS:
        return []
    return [*parts[:-1], parts[-1].removesuffix(".git")]


def _no_project(kind: str) -> Refusal:
    if kind == Kind.GITHUB:
        message = _(
            "This is not the address of a repository, such as https://github.com/owner/name."
        )
    else:
        message = _(
            "This is not the address of a project, such as https://gitlab.com/group/project."
        )
    return Refusal("not_a_project_address", message, status=400)
