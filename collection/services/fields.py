"""What people may say of a repository, each field in its one spelling or with what is wrong with
it. Nothing here looks at the database."""

import re
import unicodedata
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from collection.choices import DEFAULT_BRANCH, Kind
from collection.models.commit import BRANCH_LENGTH
from collection.models.repository import ADDRESS_LENGTH
from collection.origins.git.addresses import clean_address as clean_git
from collection.origins.git.addresses import guess_kind
from collection.origins.hosted import clean_hosted
from collection.services.keys import BadKey, clean_key, looks_like_key
from glossary_site.errors import Refusal
from projects.intake.errors import Refused
from projects.intake.globs import spec_of
from projects.intake.paths import clean_path

NAME_LENGTH = 200
USERNAME_LENGTH = 200
TOKEN_LENGTH = 4000
FOLDER_LENGTH = 500
MOST_BRANCH_PATTERNS = 50
MOST_DOCUMENT_PATTERNS = 100
PATTERN_LENGTH = 300
# What git lets no branch be called; `*` and `?` are ours, for patterns.
NOT_IN_NAMES = re.compile(r"[\x00-\x20\x7f~^:\\\[]|\.\.|//|@\{|(^|/)\.|\.lock(/|$)|^[-/]|[/.]$|^@$")


class BadField(Refusal):
    """A field that cannot be as it was given, and which one it is."""

    def __init__(self, field: str, code: str, message: Any, *, status: int = 400) -> None:
        super().__init__(code, message, status=status, fields={field: [str(message)]})
        self.field = field


def clean_kind(kind: str | None, address: str) -> Kind:
    """As asked for, or as the address looks."""
    if not kind:
        return guess_kind(address)
    if kind not in Kind.values:
        raise BadField(
            "kind", "bad_kind", _("“%(kind)s” is no kind of repository.") % {"kind": kind}
        )
    return Kind(kind)


def clean_address(kind: str, address: str) -> str:
    """It may ask a name server: no work for inside a transaction."""
    try:
        if kind in (Kind.GITLAB, Kind.GITHUB):
            cleaned = clean_hosted(kind, address)
        else:
            cleaned = clean_git(kind, address)
    except Refusal as refusal:
        raise BadField("address", refusal.code, refusal.message, status=refusal.status) from refusal
    if len(cleaned) > ADDRESS_LENGTH:
        raise BadField("address", "bad_address", _("The address is too long."))
    return cleaned


def clean_name(name: str) -> str:
    name = unicodedata.normalize("NFC", name).strip()
    if len(name) > NAME_LENGTH or not name.isprintable():
        raise BadField(
            "name",
            "bad_name",
            _("A name has at most %(limit)s characters, in one line.") % {"limit": NAME_LENGTH},
        )
    return name


def name_from(address: str, *, parts: int = 1) -> str:
    """The last parts of an address; one of them is what `git clone` would call the folder."""
    path = address.partition("://")[2] or address
    steps = [step for step in path.removesuffix("/").removesuffix(".git").split("/") if step]
    return "/".join(steps[-parts:])[-NAME_LENGTH:] or address[:NAME_LENGTH]


def clean_username(username: str) -> str:
    username = username.strip()
    if len(username) > USERNAME_LENGTH or not username.isprintable() or ":" in username:
        raise BadField(
            "username", "bad_username", _("This is not a user name: it has odd characters.")
        )
    return username


def clean_secret(secret: str, *, address: str, kind: str) -> str:
    """A token, a password or a private key, whichever the address needs; empty for none."""
    if not secret.strip():
        return ""
    if kind == Kind.LOCAL:
        raise _bad_secret(_("A folder of this machine needs no key."))
    if address.startswith("ssh://"):
        try:
            return clean_key(secret)
        except BadKey as error:
            raise _bad_secret(str(error)) from None
    if looks_like_key(secret):
        raise _bad_secret(
            _(
                "This is a private key, which is for addresses that begin with ssh://. For this "
                "one, give a token."
            )
        )
    token = secret.strip()
    if len(token) > TOKEN_LENGTH or not token.isprintable():
        raise _bad_secret(_("This is not a token: it is too long, or has odd characters."))
    return token


def clean_branch_patterns(patterns: Iterable[str]) -> list[str]:
    """Names as git allows them, with `*` for any characters (also “/”) and `?` for one."""
    cleaned = _once(str(pattern).strip().removeprefix("refs/heads/") for pattern in patterns)
    if len(cleaned) > MOST_BRANCH_PATTERNS:
        raise _bad_branch(
            _("At most %(count)s names or patterns of branches.") % {"count": MOST_BRANCH_PATTERNS}
        )
    for pattern in cleaned:
        _check_branch(pattern.replace("*", "x").replace("?", "x"), shown=pattern)
    return cleaned


def clean_document_branch(name: str) -> str:
    name = name.strip().removeprefix("refs/heads/")
    if name in ("", DEFAULT_BRANCH):
        return ""
    if "*" in name or "?" in name:
        raise BadField(
            "document_branch",
            "bad_document_branch",
            _("Documents are read from one branch: give its name, not a pattern."),
        )
    _check_branch(name, shown=name, field="document_branch", code="bad_document_branch")
    return name


def clean_document_patterns(patterns: Iterable[str]) -> list[str]:
    """Lines as in `.gitignore`, but of what comes in; a later one with “!” takes out again."""
    cleaned = _once(unicodedata.normalize("NFC", str(pattern)).strip() for pattern in patterns)
    if len(cleaned) > MOST_DOCUMENT_PATTERNS:
        raise _bad_documents(
            _("At most %(count)s path patterns at once.") % {"count": MOST_DOCUMENT_PATTERNS}
        )
    for pattern in cleaned:
        try:
            means = len(pattern) <= PATTERN_LENGTH and pattern.isprintable()
            means = means and any(line.include is not None for line in spec_of([pattern]).patterns)
        except (ValueError, re.error):
            means = False
        if not means:
            raise _bad_documents(
                _("“%(pattern)s” is not a path pattern.") % {"pattern": pattern[:PATTERN_LENGTH]}
            )
    if cleaned and all(pattern.startswith("!") for pattern in cleaned):
        raise _bad_documents(_("Patterns with “!” only take out what another one takes in."))
    return cleaned


def clean_folder(folder: str) -> str:
    """Of the project, for documents; empty for their own paths."""
    if not folder.strip(" /"):
        return ""
    try:
        cleaned = clean_path(folder.strip())
    except Refused as error:
        raise BadField("document_folder", "bad_document_folder", error.message) from error
    if len(cleaned) > FOLDER_LENGTH:
        raise BadField(
            "document_folder", "bad_document_folder", _("The folder’s name is too long.")
        )
    return cleaned


def clean_since(since: datetime | None) -> datetime | None:
    if since is None:
        return None
    if timezone.is_naive(since):
        since = timezone.make_aware(since)
    if since > timezone.now():
        raise BadField(
            "since", "bad_since", _("The date is in the future: nothing was written then.")
        )
    return since


def _once(texts: Iterable[str]) -> list[str]:
    return [text for text in dict.fromkeys(texts) if text]


def _check_branch(
    name: str, *, shown: str, field: str = "branch_patterns", code: str = "bad_branch_pattern"
) -> None:
    if NOT_IN_NAMES.search(name) or not name.isprintable() or len(shown) > BRANCH_LENGTH:
        raise BadField(
            field,
            code,
            _("“%(name)s” cannot be the name of a branch.") % {"name": shown[:BRANCH_LENGTH]},
        )


def _bad_branch(message: str) -> BadField:
    return BadField("branch_patterns", "bad_branch_pattern", message)


def _bad_documents(message: str) -> BadField:
    return BadField("document_patterns", "bad_document_pattern", message)


def _bad_secret(message: str) -> BadField:
    return BadField("secret", "bad_secret", message)
