"""What people type into the pages of terms. Forms check the shape; services decide."""

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from projects.choices import TermStatus
from projects.models.terms import NOTES_LENGTH, TERM_LENGTH, TermCategory

TEXT = {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}


class CategoryField(forms.ChoiceField):
    """The kinds that the project knows, and none."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            label=_("Category"), required=False, choices=[("", _("No category"))], **options
        )

    def offer(self, categories: Iterable[tuple[str, Any]]) -> None:
        self.choices = [("", _("No category")), *categories]


class TermForm(forms.Form):
    """A term as it is written, its kind, and what the definition should know."""

    text = forms.CharField(
        label=_("Term"), max_length=TERM_LENGTH, widget=forms.TextInput(attrs=TEXT)
    )
    category = CategoryField()
    notes = forms.CharField(
        label=_("Notes"),
        max_length=NOTES_LENGTH,
        required=False,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=_("What whoever writes the definition should know. Every run reads it."),
    )

    def __init__(self, *args: Any, categories: Iterable[tuple[str, Any]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        category = self.fields["category"]
        assert isinstance(category, CategoryField)
        category.offer(categories)


def _seen() -> forms.CharField:
    return forms.CharField(required=False, strip=False, widget=forms.HiddenInput)


class EditTermForm(TermForm):
    """With the term as the person was shown it: what differs from that is what they changed."""

    EDITED = ("text", "category", "notes")

    seen_text, seen_category, seen_notes = _seen(), _seen(), _seen()

    @property
    def seen(self) -> dict[str, str]:
        """What the form has brought back of it."""
        names = [name for name in self.EDITED if f"seen_{name}" in self.data]
        return {name: _plain(self.cleaned_data[f"seen_{name}"]) for name in names}

    @property
    def values(self) -> dict[str, str]:
        return {name: _plain(self.cleaned_data[name]) for name in self.EDITED}

    @property
    def changes(self) -> dict[str, str]:
        before = {**self.initial, **self.seen}
        return {name: value for name, value in self.values.items() if value != before[name]}


def shown(values: Mapping[str, str], *, edited: Mapping[str, str] | None = None) -> dict[str, str]:
    """What the form of a term begins with: its values, or what somebody has made of them."""
    return {**values, **(edited or {}), **{f"seen_{name}": v for name, v in values.items()}}


def _plain(text: str) -> str:
    """Browsers send the ends of lines in their own way."""
    return text.replace("\r\n", "\n").strip()


class NewTermForm(TermForm):
    status = forms.ChoiceField(
        label=_("List"),
        choices=[
            (TermStatus.REQUIRED, _("Required: gets an entry even where no document has it")),
            (TermStatus.CANDIDATE, _("Candidate: gets an entry")),
            (TermStatus.EXCLUDED, _("Excluded: never gets an entry")),
        ],
        initial=TermStatus.REQUIRED,
    )

    field_order = ("text", "status", "category", "notes")


class CategoryForm(forms.Form):
    """A kind of terms that only this project has."""

    name = forms.CharField(
        label=_("Name"),
        max_length=TermCategory._meta.get_field("name").max_length,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    auto_exclude = forms.BooleanField(
        label=_("Leave terms of this kind out of the glossary"), required=False
    )
