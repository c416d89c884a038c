"""What a run has published, and what was published before it."""

from django.db.models import Exists, OuterRef

from projects.choices import Change
from projects.models import EntryRevision
from runs.models import ProvisionalEntry, Run


def counterpart_of(run: Run) -> Run | None:
    """What people compare it with: the one that was published last, else the one before it."""
    others = Run.objects.filter(project=run.project_id).ended().exclude(pk=run.pk)
    others = others.filter(Exists(ProvisionalEntry.objects.filter(run=OuterRef("pk"))))
    published = others.published().order_by("-published_at").first()
    return published or others.filter(pk__lt=run.pk).newest_first().first()


def publication_of(run: Run) -> EntryRevision | None:
    """The newest change that it made to the glossary and nobody has taken back."""
    revisions = EntryRevision.objects.filter(
        project=run.project_id, run_id=run.pk, change=Change.PUBLISHED, undone_by=None
    )
    return revisions.select_related("author").order_by("-pk").first()
