"""From what a person typed to the one spelling of a repository's address, or a refusal in words."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote

from django.conf import settings
from django.utils.translation import gettext as _

from collection.choices import Kind
from collection.models.repository import ADDRESS_LENGTH
from glossary_site.errors import Refusal
from glossary_site.outbound.guard import WEB, Target, check_url

# `name::whatever` hands the address to a program of that name.
HELPER = re.compile(r"[A-Za-z0-9+.-]*::")
SCHEME = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://")
# `git@host:group/project.git`, as ssh and the hosts write it.
SHORT = re.compile(
    r"((?P<user>[^@/:\[\]]+)@)?(?P<host>[^@/:\[\]]+|\[[0-9A-Fa-f:.]+\]):(?P<path>[^:].*)"
)
LONG = re.compile(r"ssh://(?:(?P<user>[^@/]*)@)?(?P<host>[^@/]+)(?P<path>/.*)?")
USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")
# The account that nearly every host has for this.
USUAL_USER = "git"
FILE = "file://"
# How a file begins that says where the repository is.
POINTER = "gitdir: "
# Repositories that borrow from others that borrow … are not what anybody means.
MOST_BORROWED = 20
SMALL_FILE = 100_000


def guess_kind(text: str) -> Kind:
    text = text.strip()
    return Kind.LOCAL if text.startswith("/") or text.lower().startswith(FILE) else Kind.GIT


def clean_address(kind: str, text: str) -> str:
    return clean_local(text) if kind == Kind.LOCAL else clean_remote(text)


def clean_local(path: str) -> str:
    """The real path of a git repository below one of the folders that the operator allows."""
    typed = path.strip()
    if typed.lower().startswith(FILE):
        typed = unquote(typed[len(FILE) :])
    if not typed.startswith("/") or _is_odd(typed):
        raise _refused("address_invalid", _("The path of a folder must begin with “/”."))
    real = os.path.realpath(typed)
    # Before anything is said about what is there: what lies elsewhere is nobody's business.
    _require_allowed(real)
    if len(real) > ADDRESS_LENGTH:
        raise _too_long()
    for folder in _folders(real, typed):
        _require_allowed(folder)
    return real


def clean_remote(text: str) -> str:
    """`https://…`, `http://…` or `ssh://user@host/…`, and where it leads may be opened."""
    typed = text.strip()
    if not typed or _is_odd(typed) or typed.startswith("-") or HELPER.match(typed):
        raise _not_an_address()
    scheme = SCHEME.match(typed)
    if scheme is None:
        return _clean_short(typed)
    if scheme["scheme"].lower() == "ssh":
        found = LONG.fullmatch("ssh" + typed[3:])
        if found is None:
            raise _not_an_address()
        return _ssh_address(found["user"], found["host"], found["path"] or "")
    if scheme["scheme"].lower() == "file":
        raise _refused(
            "address_invalid", _("A folder of this machine is added by its path, such as /srv/x.")
        )
    url = check_url(typed, schemes=WEB).url
    if url.query:
        raise _refused("address_invalid", _("The address must not contain “?”."))
    return _short_enough(url.origin + _path(url.path))


def is_shallow(path: str) -> bool:
    """Of a folder of this machine: does its history end somewhere?"""
    inside = _git_folder(path)
    if inside is None:
        return False
    shared = _line(Path(inside, "commondir")) or "."
    return os.path.isfile(os.path.join(inside, shared, "shallow"))


def git_folder(path: str) -> str:
    """What git reads of a folder of this machine."""
    inside = _git_folder(path)
    if inside is None:
        raise _no_repository(path)
    return inside


def ssh_target(address: str) -> Target:
    """Where an address of ours with ssh leads now, and may lead."""
    found = LONG.fullmatch(address)
    assert found is not None
    return check_url(f"ssh://{found['host']}{found['path']}", schemes=("ssh",))


def _clean_short(typed: str) -> str:
    found = SHORT.fullmatch(typed)
    if found is None:
        raise _not_an_address()
    if found["path"].startswith("-"):
        raise _not_an_address()
    return _ssh_address(found["user"], found["host"], "/" + found["path"].lstrip("/"))


def _ssh_address(user: str | None, host: str, path: str) -> str:
    if user is not None and ":" in user:
        raise _refused(
            "url_credentials", _("The address must not contain a password. Type it in its field.")
        )
    if user is not None and not USER.fullmatch(user):
        raise _not_an_address()
    url = check_url(f"ssh://{host}{path}", schemes=("ssh",)).url
    if url.query:
        raise _refused("address_invalid", _("The address must not contain “?”."))
    origin = url.origin.removeprefix("ssh://")
    return _short_enough(f"ssh://{user or USUAL_USER}@{origin}{_path(url.path)}")


def _path(path: str) -> str:
    """Programs disagree about what these mean, and each disagreement is a way round a check."""
    path = path.rstrip("/")
    parts = unquote(path).split("/")[1:]
    if not parts or _is_odd("".join(parts)):
        raise _not_an_address()
    if any(part in ("", ".", "..") or part.startswith("-") for part in parts):
        raise _not_an_address()
    return path


def _folders(real: str, typed: str) -> Iterator[str]:
    """Every folder that git would read for the repository at `real`; it must be one."""
    inside = _git_folder(real)
    if inside is None:
        raise _no_repository(typed)
    yield inside
    common = inside
    if (shared := _line(Path(inside, "commondir"))) is not None:
        common = os.path.realpath(os.path.join(inside, shared))
        yield common
    borrowed = [os.path.join(common, "objects")]
    for objects in borrowed:
        yield os.path.realpath(objects)
        yield from _linked(objects)
        more = _lines(Path(objects, "info", "alternates"))
        borrowed += [os.path.join(objects, other) for other in more]
        if len(borrowed) > MOST_BORROWED:
            raise _refused(
                "repository_not_allowed",
                _("The repository borrows from too many others."),
            )


def _linked(objects: str) -> Iterator[str]:
    """Where links among the objects lead: git follows those of folders, packs and single ones."""
    folders = [objects]
    for folder in folders:
        with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_symlink():
                    yield os.path.realpath(entry.path)
                elif folder == objects and entry.is_dir():
                    folders.append(entry.path)


def _git_folder(path: str) -> str | None:
    for inside in (os.path.join(path, ".git"), path):
        if os.path.isfile(inside):
            pointer = _line(Path(inside)) or ""
            if not pointer.startswith(POINTER):
                return None
            inside = os.path.join(path, pointer.removeprefix(POINTER))
        inside = os.path.realpath(inside)
        shared = _line(Path(inside, "commondir"))
        common = inside if shared is None else os.path.join(inside, shared)
        if os.path.isfile(os.path.join(inside, "HEAD")) and all(
            os.path.isdir(os.path.join(common, part)) for part in ("objects", "refs")
        ):
            return inside
    return None


def _line(file: Path) -> str | None:
    """All that a small file says; None where there is none."""
    line = _text(file).rstrip("\r\n")
    if _is_unclear(line):
        raise _unclear()
    return line or None


def _lines(file: Path) -> list[str]:
    """Of a small file, without its notes."""
    lines = [line for line in _text(file).split("\n") if line and not line.startswith("#")]
    if any(map(_is_unclear, lines)):
        raise _unclear()
    return lines


def _text(file: Path) -> str:
    """Empty where there is none, or none that can be read."""
    if not file.exists():
        return ""
    if not file.is_file():
        raise _unclear()  # a pipe says something else to everybody who asks
    try:
        with file.open("rb") as opened:
            data = opened.read(SMALL_FILE + 1)
    except OSError:
        return ""
    if len(data) > SMALL_FILE:
        raise _unclear()
    return os.fsdecode(data)


def _is_unclear(line: str) -> bool:
    """What git may read in another way than we do would be a way round the roots."""
    return _is_odd(line) or line != line.strip() or line.startswith('"')


def _require_allowed(real: str) -> None:
    roots = [os.path.realpath(root) for root in settings.GIT_ROOTS]
    if any(os.path.commonpath([root, real]) == root for root in roots):
        return
    if not roots:
        raise _refused(
            "repository_not_allowed",
            _(
                "This site collects no folders of its own machine. An operator can allow them "
                "with GLOSSARY_GIT_ROOTS."
            ),
        )
    raise _refused(
        "repository_not_allowed",
        _(
            "This folder, or one that it leads to, is not among those that this site collects. "
            "An operator names them in GLOSSARY_GIT_ROOTS."
        ),
    )


def _is_odd(text: str) -> bool:
    return any(not char.isprintable() or char == "\\" for char in text)


def _short_enough(address: str) -> str:
    if len(address) > ADDRESS_LENGTH:
        raise _too_long()
    return address


def _refused(code: str, message: str) -> Refusal:
    return Refusal(code, message, status=400)


def _no_repository(typed: str) -> Refusal:
    return _refused(
        "not_a_repository", _("There is no git repository at “%(path)s”.") % {"path": typed}
    )


def _unclear() -> Refusal:
    return _refused(
        "repository_not_allowed",
        _("The repository names other folders in a way that this site does not follow."),
    )


def _too_long() -> Refusal:
    return _refused("address_invalid", _("The address is too long."))


def _not_an_address() -> Refusal:
    return _refused(
        "address_invalid",
        _(
            "This is no address of a git repository. It looks like https://host/path, "
            "ssh://user@host/path or user@host:path."
        ),
    )
