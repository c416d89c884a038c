"""What this app adds to the projects below it, which cannot ask it: imports point the other way."""

from django.utils.html import conditional_escape
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from collection import news, repository_news
from collection.panels import document_commits, term_commit, version_origins
from collection.services.branches import lock_repositories
from collection.services.ending import COLLECT, leave_collections
from collection.services.removing import REMOVED as COMMITS_REMOVED
from projects.document_facts import VERSION_NOTES
from projects.news import SENTENCES, Payload, by, linked, say, strong
from projects.panels import DOCUMENT_PANELS, TERM_PANELS, Panel
from projects.stopping import LOCKERS, STOPPERS
from projects.work import TOLD_ELSEWHERE


def _count(payload: Payload, key: str) -> int:
    value = payload.get(key, 0)
    return value if isinstance(value, int) else 0


def _repository(payload: Payload) -> SafeString:
    return strong(payload.get("name", "?"))


def _added(payload: Payload) -> SafeString:
    return say(
        _("%(by)s added the repository %(name)s."), by=by(payload), name=_repository(payload)
    )


def _changed(payload: Payload) -> SafeString:
    match payload.get("enabled"):
        case True:
            words = _("%(by)s has the repository %(name)s collected again.")
        case False:
            words = _("%(by)s paused the repository %(name)s.")
        case _unsaid:
            words = _("%(by)s changed the repository %(name)s.")
    return say(words, by=by(payload), name=_repository(payload))


def _removed(payload: Payload) -> SafeString:
    return say(
        _("%(by)s removed the repository %(name)s."), by=by(payload), name=_repository(payload)
    )


def _started(payload: Payload) -> SafeString:
    # How many branches there are is only known when the repositories have answered.
    return say(_("%(by)s started a collection."), by=by(payload))


def _completed(payload: Payload) -> SafeString:
    project = payload.get("project_id")
    commits, failed = _count(payload, "new_commits"), _count(payload, "failed")
    found = (
        ngettext("%(n)s new commit", "%(n)s new commits", commits) % {"n": commits}
        if commits
        else _("nothing new")
    )
    shown = linked(conditional_escape(found), "collection-run", project, payload.get("run_id"))
    if not failed:
        return say(_("A collection is complete: %(found)s."), found=shown)
    words = ngettext(
        "A collection is complete: %(found)s; %(n)s branch failed.",
        "A collection is complete: %(found)s; %(n)s branches failed.",
        failed,
    )
    return say(words, found=shown, n=failed)


def _cancelled(payload: Payload) -> SafeString:
    return say(_("%(by)s stopped a collection."), by=by(payload))


def _commits_removed(payload: Payload) -> SafeString:
    commits = _count(payload, "commits")
    words = ngettext(
        "%(by)s deleted %(n)s commit of the branch %(branch)s of %(name)s.",
        "%(by)s deleted %(n)s commits of the branch %(branch)s of %(name)s.",
        commits,
    )
    return say(
        words,
        by=by(payload),
        n=commits,
        branch=strong(payload.get("branch", "?")),
        name=strong(payload.get("repository", "?")),
    )


SENTENCES.update(
    {
        repository_news.ADDED: ("branch", _added),
        repository_news.CHANGED: ("edit", _changed),
        repository_news.REMOVED: ("trash", _removed),
        news.STARTED: ("play", _started),
        news.COMPLETED: ("check", _completed),
        news.CANCELLED: ("stop", _cancelled),
        COMMITS_REMOVED: ("trash", _commits_removed),
    }
)
# A project that is deleted has no use for them.
STOPPERS.append(leave_collections)
LOCKERS.append(lock_repositories)
# Collections have pages of their own.
TOLD_ELSEWHERE.add(COLLECT)
DOCUMENT_PANELS.append(Panel("commits", document_commits))
TERM_PANELS.append(Panel("commit", term_commit))
VERSION_NOTES.append(version_origins)
