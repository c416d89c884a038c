"""What the main thread writes of what visits tell. Every function is called within a transaction
that commits only while the job is ours, with the repository's row locked: see `going.py`."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from collection.choices import DEFAULT_BRANCH, BranchState, State
from collection.models import Branch, BulkCollectionResult, BulkCollectionRun, Commit, Repository
from collection.origins.data import CommitData, Heads, OriginProblem
from collection.services.branches import note_heads, note_problem
from collection.services.collecting.inserting import insert_commits
from collection.services.collecting.visiting import Errand
from collection.services.documents import documents_key
from collection.services.ending import give_up, recount, sayable, succeed
from glossary_site.errors import Refusal

# Rows of one statement.
BATCH = 1000
# A host that wants us to wait longer than this gets no more tries from this collection.
LONGEST_WAIT = timedelta(hours=1)


def take_heads(run: BulkCollectionRun, repository: Repository, heads: Heads) -> list[Errand]:
    """Note what is there, and make of the repository's pending targets errands for its visit."""
    before = dict(repository.branches.values_list("pk", "name"))
    if repository.state == State.SHALLOW and not heads.shallow:
        # It has got the rest of its history, which lies behind what was collected.
        repository.branches.update(head="", complete=False)
    followed = note_heads(repository, heads)
    _follow_renames(run, repository, before)
    grows = _grows(run, repository)
    changed = _name_default(run, repository, followed)
    if grows:
        changed |= _add_targets(run, repository, followed)
    if changed:
        recount(run)
    branches = {branch.name: branch for branch in repository.branches.all()}
    errands: list[Errand] = []
    for result in run.results.pending().filter(repository=repository).order_by("pk"):
        name = result.branch_name
        head = heads.branches.get(name)
        if head is None:
            _end_without(result, heads, known=name in branches)
            continue
        branch = branches.get(name)
        if branch is None:
            # Chosen for this collection; no name or pattern asks for it.
            branch = repository.branches.create(name=name, state=BranchState.LEFT_OUT)
        errands.append(
            Errand(
                result=result,
                branch_id=branch.pk,
                head=head,
                known=branch.head,
                complete=branch.complete,
                since=_since(run, repository, branch),
                shares=bool(errands) or _has_stored(branch, branches.values()),
                rewritten=branch.rewritten_at is not None and branch.rewritten_at > run.started_at,
                torn=branch.rewritten_at is not None and not branch.complete,
            )
        )
    return sorted(errands, key=lambda errand: errand.is_new)


def _has_stored(branch: Branch, branches: Iterable[Branch]) -> bool:
    """Commits that it may have: those of other branches, or its own, collected from the beginning
    again."""
    others = any(each.head for each in branches if each.pk != branch.pk)
    return others or (not branch.head and branch.commits.exists())


def _follow_renames(run: BulkCollectionRun, repository: Repository, before: dict[int, str]) -> None:
    """A default branch that is called otherwise now is the same target."""
    for pk, name in repository.branches.values_list("pk", "name"):
        if before.get(pk, name) != name:
            pending = run.results.pending().filter(repository=repository)
            if not run.results.filter(repository=repository, branch_name=name).exists():
                pending.filter(branch_name=before[pk]).update(branch_name=name)


def _grows(run: BulkCollectionRun, repository: Repository) -> bool:
    """One that does again what another one left takes no branch that the other one did; but where
    that did not come to know their names, it takes them all."""
    unnamed = run.results.pending().filter(repository=repository, branch_name=DEFAULT_BRANCH)
    return run.grows and (run.continues_id is None or unnamed.exists())


def _name_default(
    run: BulkCollectionRun, repository: Repository, followed: Sequence[Branch]
) -> bool:
    """The target that stood for the default branch gets its name. It goes where names and patterns
    lead elsewhere, or where the branch is there by its name already."""
    unnamed = run.results.pending().filter(repository=repository, branch_name=DEFAULT_BRANCH)
    default = repository.default_branch
    names = {branch.name for branch in followed}
    named = bool(default) and (not run.grows or default in names)
    there = run.results.filter(repository=repository, branch_name=default).exists()
    if named and not there:
        unnamed.update(branch_name=default)
        return False
    return bool((named or names) and unnamed.delete()[0])


def _add_targets(
    run: BulkCollectionRun, repository: Repository, followed: Sequence[Branch]
) -> bool:
    there = set(run.results.filter(repository=repository).values_list("branch_name", flat=True))
    added = [
        BulkCollectionResult(
            run=run,
            repository=repository,
            branch_name=branch.name,
            in_hand_since=timezone.now(),
        )
        for branch in followed
        if branch.name not in there
    ]
    BulkCollectionResult.objects.bulk_create(added)
    return bool(added)


def _end_without(result: BulkCollectionResult, heads: Heads, *, known: bool) -> None:
    """A target whose branch is not there."""
    if not heads.branches:
        succeed(result, new_commits=0, note=_("The repository is empty."))
    elif known:
        succeed(result, new_commits=0, note=_("The branch was deleted; its commits are kept."))
    elif result.branch_name == DEFAULT_BRANCH:
        give_up(result, _("No branch of it is to be followed. Look at its names and patterns."))
    else:
        give_up(result, _("There is no branch “%(name)s” in it.") % {"name": result.branch_name})


def _since(run: BulkCollectionRun, repository: Repository, branch: Branch) -> datetime | None:
    """A first collection begins where the collection says; what follows, where it was said for
    good, also if it was left in the middle."""
    return (run.since if branch.collected_at is None else None) or repository.since


def store_commits(errand: Errand, commits: Sequence[CommitData], position: str) -> int:
    """Rows, and the checkpoint that covers them; how many were new."""
    result = errand.result
    shas = [commit.sha for commit in commits]
    there = Commit.objects.filter(repository_id=result.repository_id, branch_id=errand.branch_id)
    present = dict(there.filter(sha__in=shas).values_list("sha", "unreachable"))
    new = [commit for commit in commits if commit.sha not in present]
    insert_commits(repository_id=result.repository_id, branch_id=errand.branch_id, commits=new)
    back = [sha for sha, unreachable in present.items() if unreachable]
    if back:
        # A history that was rewritten, and then put back.
        there.filter(sha__in=back).update(unreachable=False)
    if position:
        Branch.objects.filter(pk=errand.branch_id).update(head=position, complete=False)
    return len(new)


def copy_commits(errand: Errand, shas: Sequence[str]) -> tuple[frozenset[str], int]:
    """Rows of commits that another branch has, without asking for them again; which there are now,
    and how many are new. No checkpoint: that comes with the commits that nobody has."""
    of_repository = Commit.objects.filter(repository_id=errand.result.repository_id, sha__in=shas)
    mine = of_repository.filter(branch_id=errand.branch_id)
    mine.filter(unreachable=True).update(unreachable=False)
    present = set(mine.values_list("sha", flat=True))
    copies: dict[str, Commit] = {}
    for commit in of_repository.exclude(branch_id=errand.branch_id):
        if commit.sha not in present:
            commit.pk, commit.branch_id, commit.unreachable = None, errand.branch_id, False
            copies[commit.sha] = commit
    Commit.objects.bulk_create((copies[sha] for sha in shas if sha in copies), batch_size=BATCH)
    return frozenset(present | set(copies)), len(copies)


def note_new(run: BulkCollectionRun, errand: Errand, new: int, expected: int) -> None:
    BulkCollectionResult.objects.filter(pk=errand.result.pk).update(
        commits_so_far=F("commits_so_far") + new, commits_expected=expected
    )
    BulkCollectionRun.objects.filter(pk=run.pk).update(new_commits=F("new_commits") + new)


def note_left_behind(errand: Errand, shas: Sequence[str]) -> None:
    Commit.objects.filter(
        repository_id=errand.result.repository_id, branch_id=errand.branch_id, sha__in=shas
    ).update(unreachable=True)
    if not shas:
        # Not complete until it is reached, even if the old head is back by then: see `_take_back`.
        Branch.objects.filter(pk=errand.branch_id).update(
            rewritten_at=timezone.now(), rewritten_from=errand.known, complete=False
        )


def _take_back(errand: Errand) -> None:
    """Commits that an earlier try has marked as left behind, and that are in the branch after all:
    its head by now, and whatever has a child in it."""
    rows = Commit.objects.filter(
        repository_id=errand.result.repository_id, branch_id=errand.branch_id
    )
    left = dict(rows.filter(unreachable=True).values_list("sha", "parents"))
    if not left:
        return
    children = rows.filter(unreachable=False).values_list("parents", flat=True)
    parents_of = (parents.split() for parents in children.iterator())
    found = [errand.head, *(sha for shas in parents_of for sha in shas if sha in left)]
    back: list[str] = []
    while found:
        parents = left.pop(sha := found.pop(), None)
        if parents is not None:
            back.append(sha)
            found += parents.split()
    for first in range(0, len(back), BATCH):
        rows.filter(sha__in=back[first : first + BATCH]).update(unreachable=False)


def reach(errand: Errand, *, rewritten: int | None) -> bool:
    """The end of a target: its branch is collected up to its head."""
    if errand.torn:
        _take_back(errand)
    Branch.objects.filter(pk=errand.branch_id).update(
        head=errand.head,
        complete=True,
        collected_at=timezone.now(),
    )
    row = BulkCollectionResult.objects.filter(pk=errand.result.pk).first()
    if row is None:
        return False
    if rewritten is None and errand.rewritten:
        # Whoever counted them was killed.
        rewritten = 0
    return succeed(row, new_commits=row.commits_so_far, note=_rewritten_note(rewritten))


def _rewritten_note(count: int | None) -> str:
    if count is None:
        return ""
    if not count:
        return _("The history was rewritten.")
    return ngettext(
        "The history was rewritten: %(n)s commit is no longer in the branch.",
        "The history was rewritten: %(n)s commits are no longer in the branch.",
        count,
    ) % {"n": count}


def take_trouble(
    run: BulkCollectionRun, repository: Repository, error: Exception, errand: Errand | None
) -> datetime | None:
    """One target, or all that are left of the repository, cannot be collected now: again later,
    where that may help, or given up. When to try again; None: not."""
    # Not those of which this visit has told before that they are tried again.
    in_hand = run.results.pending().filter(repository=repository, in_hand_since__isnull=False)
    results = in_hand
    if errand is not None:
        results = in_hand.filter(pk=errand.result.pk)
    elif isinstance(error, OriginProblem):
        note_problem(repository, error)
    again: datetime | None = None
    for result in results:
        wait = _wait(result, error)
        if wait is None:
            give_up(result, sentence_of(error))
            continue
        again = timezone.now() + wait
        run.results.filter(pk=result.pk).update(
            attempts=F("attempts") + 1,
            last_error=sentence_of(error),
            next_retry_at=again,
            in_hand_since=None,
        )
    return again


def _wait(result: BulkCollectionResult, error: Exception) -> timedelta | None:
    if not isinstance(error, OriginProblem) or not error.again:
        return None
    if result.attempts + 1 >= settings.COLLECTION_ATTEMPTS:
        return None
    seconds = settings.COLLECTION_BACKOFF_SECONDS * 2**result.attempts
    wait = timedelta(seconds=max(seconds, error.retry_after or 0))
    return wait if wait <= LONGEST_WAIT else None


def sentence_of(error: Exception) -> str:
    """What people are told. Only our own sentences are shown: others may name files, addresses or
    keys of the server."""
    if isinstance(error, OriginProblem | Refusal):
        text = str(error)
    else:
        text = _("Something went wrong (%(kind)s). Operators find the details in the log.") % {
            "kind": type(error).__name__
        }
    return sayable(text)


def documents_wanted(repository: Repository, heads: Heads) -> tuple[str, str] | None:
    """The branch and commit to read documents from, when they are not as they should be."""
    key = documents_key(repository)
    branch = repository.document_branch or repository.default_branch
    head = heads.branches.get(branch)
    if repository.project_id is None or head is None:
        return None
    if head == repository.documents_head and key == repository.documents_key:
        return None
    if not repository.document_patterns and not repository.documents_key:
        return None
    return branch, head


def mailmap_wanted(repository: Repository, errands: Sequence[Errand]) -> tuple[str, str] | None:
    """The branch and commit to read the mail map from, where commits have come: on any branch there
    may be people whom it knows. The default branch has it, or else the one that has news."""
    if repository.project_id is None or not any(errand.is_new for errand in errands):
        return None
    heads = {errand.result.branch_name: errand.head for errand in errands}
    default = repository.default_branch
    last = errands[-1].result.branch_name
    return (default, heads[default]) if default in heads else (last, heads[last])
