"""What a clone takes over of the terms: everything that people said, nothing that was counted."""

from projects.models import Project, SynonymGroup, Term, TermCategory
from projects.services.terms.lists import touched_terms

BATCH = 500
TAKEN_OVER = (
    "text",
    "key",
    "reading",
    "language",
    "category",
    "status",
    "reason",
    "notes",
    "chosen",
    "by_hand",
    "added_by_id",
)


def copy_lists(*, project: Project, clone: Project) -> None:
    """Within the transaction that makes the clone. What only an extraction found, one will find
    again; a term stays there by the same rules as in the project."""
    TermCategory.objects.bulk_create(
        TermCategory(project=clone, key=row.key, name=row.name, auto_exclude=row.auto_exclude)
        for row in TermCategory.objects.filter(project=project)
    )
    rows = touched_terms(project)
    copies: dict[int, Term] = {
        row.pk: Term(project=clone, **{name: getattr(row, name) for name in TAKEN_OVER})
        for row in rows.listed()
    }
    Term.objects.bulk_create(copies.values(), batch_size=BATCH)
    groups: dict[int, SynonymGroup] = {
        row.pk: SynonymGroup(project=clone, primary=copies[row.primary_id])
        for row in SynonymGroup.objects.filter(project=project)
        if row.primary_id in copies
    }
    SynonymGroup.objects.bulk_create(groups.values())
    members = []
    for row in rows.filter(group__in=groups).only("group"):
        copies[row.pk].group = groups[row.group_id or 0]
        members.append(copies[row.pk])
    Term.objects.bulk_update(members, ["group"], batch_size=BATCH)
