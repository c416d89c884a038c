"""What is wrong with the entries."""

from collections.abc import Iterable

from django.utils.translation import ngettext

from glossary_site.llm.requests import Result
from runs.models import RunIssue
from runs.pipeline import review as pipeline
from runs.pipeline.data import Failure, Issue
from runs.services.asking import answered, failures_of, finishing, take_in
from runs.services.work import Work


def review(work: Work) -> None:
    entries = work.provisional
    names = {key: entry.term for key, entry in entries.items()}
    order = {key: place for place, key in enumerate(entries)}

    def store(results: Iterable[Result]) -> list[Failure]:
        issues: list[Issue] = []
        failures: list[Failure] = []
        for result in results:
            if result.ok:
                issues += pipeline.read(result.key, result.data, entries=entries, lists=work.lists)
            else:
                failures += failures_of(result, names)
        RunIssue.objects.bulk_create(
            RunIssue(
                run=work.run,
                order=order[issue.key],
                term=names[issue.key],
                key=issue.key,
                kind=issue.kind,
                description=issue.description,
                suggestion=issue.suggestion,
                other_key=issue.other_key,
                exclude=issue.exclude,
            )
            for issue in issues
        )
        return failures

    if work.step.process_id is None and work.run.issues.exists():
        # Left from a model that the project has gone away from.
        with work.session.atomic():
            work.run.issues.all().delete()
    answered(
        work,
        lambda: pipeline.requests(
            list(entries.values()),
            language=work.language,
            builtin=work.builtin,
            most_tokens=work.most_tokens,
            lists=work.lists,
        ),
        names=names,
        store=store,
    )
    with finishing(work) as results:
        take_in(work, store, results)
        count = work.run.issues.count()
        found = ngettext("%(n)s issue.", "%(n)s issues.", count) % {"n": count}
        work.progress(len(entries), len(entries), lines=[work.line(found)])
