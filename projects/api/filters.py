"""How lists are narrowed by the query string."""

import unicodedata
from datetime import UTC, datetime
from typing import Any

from django import forms
from django.db.models.functions import Left
from django.utils.translation import gettext_lazy as _
from django_filters import rest_framework as filters
from django_filters.fields import IsoDateTimeField

from projects.choices import Format, Language, Role, Source
from projects.models import Document, Project
from projects.querysets import DocumentQuerySet, ProjectQuerySet


class MomentField(IsoDateTimeField):
    """A time that has a place in our calendar also when it is moved to another time zone."""

    def clean(self, value: Any) -> datetime | None:
        moment: datetime | None = super().clean(value)
        try:
            return moment and moment.astimezone(UTC)
        except OverflowError as error:
            raise forms.ValidationError(_("This time is too far away.")) from error


class MomentFilter(filters.IsoDateTimeFilter):
    field_class = MomentField


class ProjectFilter(filters.FilterSet):
    q = filters.CharFilter(method="search", label="Words in the name or the description.")
    language = filters.ChoiceFilter(choices=Language.choices)
    role = filters.ChoiceFilter(field_name="my_role", choices=Role.choices, label="Your role.")

    class Meta:
        model = Project
        fields = ("q", "language", "role")

    def search(self, rows: ProjectQuerySet, name: str, text: str) -> ProjectQuerySet:
        return rows.matching(text)


class DocumentFilter(filters.FilterSet):
    q = filters.CharFilter(method="search", label="Words in the path or the title.")
    path = filters.CharFilter(
        method="below", strip=False, label="How the path begins, such as `chapter1/`."
    )
    format = filters.ChoiceFilter(choices=Format.choices)
    source = filters.ChoiceFilter(choices=Source.choices)
    changed_after = MomentFilter(
        field_name="updated_at", lookup_expr="gt", label="Text changed after this time."
    )
    changed_before = MomentFilter(
        field_name="updated_at", lookup_expr="lt", label="Text changed before this time."
    )

    class Meta:
        model = Document
        fields = ("q", "path", "format", "source", "changed_after", "changed_before")

    def search(self, rows: DocumentQuerySet, name: str, text: str) -> DocumentQuerySet:
        return rows.matching(text)

    def below(self, rows: DocumentQuerySet, name: str, prefix: str) -> DocumentQuerySet:
        # Stored paths are NFC. Not `startswith`: on SQLite that takes A for a.
        prefix = unicodedata.normalize("NFC", prefix)
        return rows.alias(head=Left("path", len(prefix))).filter(head=prefix)
