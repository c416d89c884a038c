"""What came of a collection, for people and for programs."""

import json
from collections.abc import Iterator

from django.core.serializers.json import DjangoJSONEncoder
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from collection.choices import DEFAULT_BRANCH, ResultStatus
from collection.models import BulkCollectionResult, BulkCollectionRun
from collection.services.summaries import Summary, summary
from glossary_site.durations import in_words
from glossary_site.jobs.management.tables import table

# A table that is longer is read by nobody; `--format json` has all of it.
MOST_ROWS = 200


def as_text(run: BulkCollectionRun) -> Iterator[str]:
    """A table of what is worth looking at, and the whole in a line or two."""
    results = run.results.select_related("repository").order_by("repository__name", "branch_name")
    told = [each for each in results if _is_worth_telling(each)]
    if told:
        headings = [_("REPOSITORY"), _("BRANCH"), _("RESULT"), _("NEW COMMITS"), _("NOTE")]
        yield table(headings, [_row(each) for each in told[:MOST_ROWS]])
    if len(told) > MOST_ROWS:
        more = len(told) - MOST_ROWS
        yield ngettext("… and %(n)s more.", "… and %(n)s more.", more) % {"n": number_format(more)}
    quiet = len(results) - len(told)
    if quiet:
        yield ngettext(
            "%(n)s branch has nothing new.", "%(n)s branches have nothing new.", quiet
        ) % {"n": number_format(quiet)}
    yield from _whole(run, summary(run))


def as_json(run: BulkCollectionRun) -> str:
    totals = summary(run)
    results = run.results.select_related("repository").order_by("repository", "branch_name")
    told = {
        "run_id": totals.run_id,
        "started_at": totals.started_at,
        "completed_at": totals.completed_at,
        "run_status": totals.run_status,
        "total_targets": totals.total_targets,
        "success_count": totals.success_count,
        "failed_count": totals.failed_count,
        "pending_count": totals.pending_count,
        "new_commits": totals.new_commits,
        "results": [
            {
                "repository_id": each.repository_id,
                "repository": each.repository.name,
                "branch_name": each.branch_name,
                "status": each.status,
                "new_commits_count": each.new_commits_count,
                "error_message": each.error_message or None,
                "attempts": each.attempts,
                "note": each.note,
                "processed_at": each.processed_at,
            }
            for each in results
        ],
    }
    return json.dumps(told, cls=DjangoJSONEncoder, ensure_ascii=False, indent=2)


def _is_worth_telling(result: BulkCollectionResult) -> bool:
    quiet = result.status == ResultStatus.SUCCESS and not result.new_commits_count
    return not quiet or bool(result.note)


def branch_in_words(result: BulkCollectionResult) -> str:
    name = result.branch_name
    return _("(default branch)") if name == DEFAULT_BRANCH else name


def _row(result: BulkCollectionResult) -> list[str]:
    count = result.new_commits_count
    return [
        result.repository.name,
        branch_in_words(result),
        result.get_status_display(),
        "" if count is None else number_format(count),
        result.error_message or result.note or result.last_error,
    ]


def _whole(run: BulkCollectionRun, totals: Summary) -> Iterator[str]:
    n = totals.total_targets
    parts = [
        ngettext("%(n)s branch", "%(n)s branches", n) % {"n": number_format(n)},
        _("%(n)s collected") % {"n": number_format(totals.success_count)},
    ]
    if totals.failed_count:
        parts.append(_("%(n)s failed") % {"n": number_format(totals.failed_count)})
    if totals.pending_count:
        parts.append(_("%(n)s left") % {"n": number_format(totals.pending_count)})
    commits = totals.new_commits
    parts.append(
        ngettext("%(n)s new commit", "%(n)s new commits", commits) % {"n": number_format(commits)}
    )
    if totals.completed_at is not None:
        parts.append(in_words(totals.completed_at - totals.started_at))
    yield ", ".join(parts) + "."
    if totals.failed_count and not run.is_running:
        yield _("Try what failed again: %(command)s") % {
            "command": f"manage.py collect --retry {run.pk}"
        }
    if totals.pending_count and not run.is_running:
        yield _("Collect the rest: %(command)s") % {
            "command": f"manage.py collect --resume {run.pk}"
        }
