"""Which branches of a repository are followed, and what was found when it was asked for them."""

import fnmatch
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from collection import repository_news as news
from collection.choices import DEFAULT_BRANCH, BranchState, State
from collection.models import Branch, Repository
from collection.models.commit import BRANCH_LENGTH
from collection.origins.data import Heads, OriginProblem
from glossary_site.errors import Refusal
from glossary_site.jobs.payloads import storable
from glossary_site.observe.masking import mask
from projects.models import Project

# More are not followed: each is a target of its own in every collection.
MOST_BRANCHES = 500
# Where a repository says none that it has, one of these is meant.
USUAL_DEFAULTS = ("main", "master")
FOUND = ("state", "state_message", "default_branch", "checked_at")


@dataclass(frozen=True)
class Matching:
    """The branches that a repository's names and patterns ask for, the default one first."""

    names: list[str]
    default: str
    # Names and patterns that nothing answers to, how many more branches there are than are
    # followed, and how many whose name is too long to be kept.
    unmatched: list[str]
    over: int = 0
    too_long: int = 0


def matching_branches(repository: Repository, heads: Heads) -> list[str]:
    return match(repository, heads).names


def followed_by(repository: Repository) -> list[str]:
    """Its names and patterns of branches. The branch that its documents are read from is among
    them, whatever people chose: without its commits nobody could say when a document changed."""
    patterns = repository.branch_patterns or [DEFAULT_BRANCH]
    if not repository.document_patterns:
        return list(patterns)
    return [*patterns, repository.document_branch or DEFAULT_BRANCH]


def match(repository: Repository, heads: Heads) -> Matching:
    default = default_of(heads, before=repository.default_branch)
    wanted = Wanted(followed_by(repository), default)
    found = sorted(filter(wanted, heads.branches), key=wanted.order)
    fitting = [name for name in found if len(name) <= BRANCH_LENGTH]
    return Matching(
        names=fitting[:MOST_BRANCHES],
        default=default if len(default) <= BRANCH_LENGTH else "",
        unmatched=wanted.unmatched(heads.branches),
        over=max(0, len(fitting) - MOST_BRANCHES),
        too_long=len(found) - len(fitting),
    )


def default_of(heads: Heads, *, before: str = "") -> str:
    """What it says; what it said before; what it can only be. Empty where nobody knows: a folder
    that work is pushed to may point to a branch that nobody ever made."""
    if len(heads.branches) == 1:
        return next(iter(heads.branches))
    meant = (heads.default, before, *USUAL_DEFAULTS)
    return next((name for name in meant if name in heads.branches), "")


class Wanted:
    """`*` stands for any characters, also “/”, and `?` for one; `HEAD` for the default branch."""

    def __init__(self, patterns: Collection[str], default: str) -> None:
        self._default = default
        self._names = dict.fromkeys(
            (default if pattern == DEFAULT_BRANCH else pattern) for pattern in patterns
        )
        # The library's expressions are matched in one go, however many stars there are.
        self._globs = {
            pattern: re.compile(fnmatch.translate(pattern)).match
            for pattern in self._names
            if "*" in pattern or "?" in pattern
        }

    def __call__(self, name: str) -> bool:
        return name in self._names or any(glob(name) for glob in self._globs.values())

    def order(self, name: str) -> tuple[bool, bool, str]:
        """The default branch, those asked for by name, the others: the first are what is followed
        when there are too many."""
        return (name != self._default, name not in self._names, name)

    def unmatched(self, names: Iterable[str]) -> list[str]:
        there = set(names)
        return [name for name in self._names if name and not self._is_met(name, there)]

    def _is_met(self, pattern: str, names: Collection[str]) -> bool:
        glob = self._globs.get(pattern)
        return any(map(glob, names)) if glob else pattern in names


def note_heads(repository: Repository, heads: Heads) -> list[Branch]:
    """Write down what is there now, in the caller's transaction and before it locks a collection:
    the state, the default branch and a row for each branch that is followed; these are returned.
    A Refusal when the repository was removed meanwhile."""
    row = lock_repository(repository)
    before, told = row.default_branch, _told(row)
    matching = match(row, heads)
    rows = {branch.name: branch for branch in row.branches.all()}
    if _was_renamed(before, matching, heads, rows):
        renamed = rows.pop(before)
        renamed.name = matching.default
        renamed.save(update_fields=["name"])
        rows[renamed.name] = renamed
    marked = _mark(rows.values(), followed=matching.names, there=heads.branches)
    made = [Branch(repository=row, name=name) for name in matching.names if name not in rows]
    Branch.objects.bulk_create(made)
    rows |= {branch.name: branch for branch in made}
    row.state, row.state_message = state_of(heads), message_of(matching, heads)
    row.default_branch = matching.default
    _write(row, repository, hint=bool(marked or made) or _told(row) != told)
    return [rows[name] for name in matching.names]


def note_problem(repository: Repository, problem: OriginProblem) -> None:
    """Write down why it did not answer; its branches stay as they were."""
    row = lock_repository(repository)
    told = _told(row)
    row.state, row.state_message = problem.state, storable(mask(str(problem.message)))
    _write(row, repository, hint=_told(row) != told)


def mark_branches(repository: Repository) -> None:
    """After another wish: those that are known and there are followed, or are not."""
    known = list(repository.branches.exclude(state=BranchState.GONE))
    names = [branch.name for branch in known]
    wanted = Wanted(followed_by(repository), repository.default_branch)
    followed = sorted(filter(wanted, names), key=wanted.order)[:MOST_BRANCHES]
    _mark(known, followed=followed, there=names)


def lock_repository(repository: Repository, *, to_delete: bool = False) -> Repository:
    """As it is now. Whoever only refers to it does not wait, unless it is to be deleted."""
    rows = Repository.objects.select_for_update(no_key=not to_delete, of=("self",))
    row = rows.select_related("project").filter(pk=repository.pk).first()
    if row is None:
        raise Refusal("repository_gone", _("The repository was removed meanwhile."), status=404)
    return row


def lock_repositories(project: Project) -> None:
    """Of a project that is being deleted: a collection comes to the end of what it writes, and then
    finds them gone."""
    rows = Repository.objects.select_for_update().filter(project=project).order_by("pk")
    list(rows.values_list("pk"))


def state_of(heads: Heads) -> State:
    if not heads.branches:
        return State.EMPTY
    if heads.moved_to:
        return State.MOVED
    return State.SHALLOW if heads.shallow else State.READY


def message_of(matching: Matching, heads: Heads) -> str:
    """What people should know of it; nothing where all is as it should be."""
    return " ".join(_sentences(matching, heads))


def _sentences(matching: Matching, heads: Heads) -> Iterable[str]:
    if heads.moved_to:
        yield _("It answers at %(address)s now: change the address.") % {"address": heads.moved_to}
    if not heads.branches:
        yield _("It has no branches yet.")
        return
    if heads.shallow:
        yield _("It has only a part of its history, and no more than that is collected.")
    if not matching.default and not matching.names:
        yield _("It does not say which branch is the default one: name those to follow.")
    elif matching.unmatched:
        yield _("No branch matches %(patterns)s.") % {
            "patterns": ", ".join(f"“{pattern}”" for pattern in matching.unmatched)
        }
    if matching.over:
        yield ngettext(
            "%(n)s more branch matches than the %(most)s that are followed.",
            "%(n)s more branches match than the %(most)s that are followed.",
            matching.over,
        ) % {"n": matching.over, "most": MOST_BRANCHES}
    if matching.too_long:
        yield ngettext(
            "%(n)s branch is left out: its name is longer than %(most)s characters.",
            "%(n)s branches are left out: their names are longer than %(most)s characters.",
            matching.too_long,
        ) % {"n": matching.too_long, "most": BRANCH_LENGTH}


def _was_renamed(before: str, matching: Matching, heads: Heads, rows: Collection[str]) -> bool:
    """The default branch has another name and no other branch has the old one: what was collected
    of it, and how far, is that of the new one."""
    now = matching.default
    is_new = bool(now) and now not in rows and now in matching.names
    return is_new and before in rows and before not in heads.branches


def _mark(
    branches: Iterable[Branch], *, followed: Collection[str], there: Collection[str]
) -> list[Branch]:
    chosen = set(followed)
    changed = []
    for branch in branches:
        if branch.name not in there:
            state = BranchState.GONE
        else:
            state = BranchState.FOLLOWED if branch.name in chosen else BranchState.LEFT_OUT
        if branch.state != state:
            branch.state = state
            changed.append(branch)
    Branch.objects.bulk_update(changed, ["state"])
    return changed


def _told(row: Repository) -> tuple[str, str, str]:
    return (row.state, row.state_message, row.default_branch)


def _write(row: Repository, repository: Repository, *, hint: bool) -> None:
    row.checked_at = timezone.now()
    row.save(update_fields=FOUND)
    for name in FOUND:
        setattr(repository, name, getattr(row, name))
    if hint:
        news.hint(row)
