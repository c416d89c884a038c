"""“Test connection”: what a repository answers, in words, before anything is collected."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.utils.translation import gettext as _

from collection.choices import USABLE, State
from collection.models import Repository
from collection.origins.data import Heads, OriginProblem, Stopped
from collection.origins.opening import open_origin
from collection.services import fields
from collection.services.branches import (
    lock_repository,
    match,
    message_of,
    note_heads,
    note_problem,
    state_of,
)
from glossary_site.errors import Refusal
from glossary_site.jobs.services import audit
from glossary_site.secrets import SecretUnreadable, encrypt
from projects.access import Actor, name_of

# Somebody is waiting for it.
SECONDS = 20.0


@dataclass(frozen=True)
class Checked:
    state: State
    # What is wrong, or worth knowing; empty where all is well.
    message: str
    branches: list[str]
    default_branch: str
    # Those that would be collected.
    matching: list[str]

    @property
    def is_usable(self) -> bool:
        return self.state in USABLE


def check_repository(repository: Repository, *, actor: Actor) -> Checked:
    """Ask it, and write down what was found."""
    answer: Heads | OriginProblem
    try:
        answer, host_keys = _ask(repository)
    except OriginProblem as problem:
        answer, host_keys = problem, repository.host_keys
    return _noted(repository, answer, host_keys, actor)


def try_connection(
    *,
    address: str,
    kind: str | None = None,
    username: str = "",
    secret: str = "",
    branch_patterns: Sequence[str] = (),
    of: Repository | None = None,
) -> Checked:
    """Ask one that is not saved. `of` is the repository that would become it: its stored secret is
    used where it would be kept, that is for the same address and no new secret."""
    chosen = fields.clean_kind(kind, address)
    cleaned = fields.clean_address(chosen, address)
    token = fields.clean_secret(secret, address=cleaned, kind=chosen)
    same = of is not None and (of.kind, of.address) == (chosen, cleaned)
    repository = Repository(
        kind=chosen,
        address=cleaned,
        username=fields.clean_username(username),
        secret=encrypt(token) if token else of.secret if same and of else "",
        host_keys=of.host_keys if same and of else "",
        branch_patterns=fields.clean_branch_patterns(branch_patterns),
    )
    try:
        heads, _host_keys = _ask(repository)
    except OriginProblem as problem:
        return _failed(problem)
    return _found(repository, heads)


def _ask(repository: Repository) -> tuple[Heads, str]:
    """With the keys of its host, which are learnt when it is first met."""
    until = time.monotonic() + SECONDS
    try:
        with open_origin(repository, stopped=lambda: time.monotonic() > until) as origin:
            heads = origin.heads()
            return heads, getattr(origin, "host_keys", "")
    except Stopped:
        raise OriginProblem(
            State.UNREACHABLE,
            _("It did not answer within %(seconds)d seconds.") % {"seconds": SECONDS},
            again=True,
        ) from None
    except SecretUnreadable as refusal:
        raise OriginProblem(State.DENIED, str(refusal)) from None
    except Refusal as refusal:
        raise OriginProblem(State.REFUSED, str(refusal)) from refusal


@transaction.atomic
def _noted(
    repository: Repository, answer: Heads | OriginProblem, host_keys: str, actor: Actor
) -> Checked:
    now = lock_repository(repository)
    checked = _failed(answer) if isinstance(answer, OriginProblem) else _found(now, answer)
    # Somebody may have given it another address while it was asked.
    if (now.kind, now.address) == (repository.kind, repository.address):
        if isinstance(answer, OriginProblem):
            note_problem(repository, answer)
        else:
            note_heads(repository, answer)
            if host_keys != now.host_keys:
                now.host_keys = repository.host_keys = host_keys
                now.save(update_fields=["host_keys"])
        audit.record(
            name_of(actor) or "operator", "test", repository, after={"state": checked.state}
        )
    return checked


def _found(repository: Repository, heads: Heads) -> Checked:
    matching = match(repository, heads)
    return Checked(
        state=state_of(heads),
        message=message_of(matching, heads),
        branches=sorted(heads.branches),
        default_branch=matching.default,
        matching=matching.names,
    )


def _failed(problem: OriginProblem) -> Checked:
    return Checked(problem.state, str(problem.message), [], "", [])
