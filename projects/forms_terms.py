"""What people type into the pages of terms. Forms check the shape; services decide."""

from collections.abc import Iterable
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
