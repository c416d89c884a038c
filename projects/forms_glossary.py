"""What people type into an entry of the glossary. Forms check the shape; services decide."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from projects.forms_terms import TEXT, CategoryField
from projects.models import GlossaryEntry
from projects.models.terms import TERM_LENGTH


class NamesField(forms.CharField):
    """Names, one a line; as data a list of them."""

    def __init__(self, **options: Any) -> None:
        attributes = {"rows": 3, "class": "names-field", **TEXT}
        super().__init__(required=False, widget=forms.Textarea(attrs=attributes), **options)

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value) or ""
        return [name.strip() for name in text.splitlines() if name.strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return list(initial or []) != self.to_python(data)


class EntryForm(forms.Form):
    """The fields of an entry, and the version of it that the person was shown."""

    term = forms.CharField(
        label=_("Term"), max_length=TERM_LENGTH, widget=forms.TextInput(attrs=TEXT)
    )
    definition = forms.CharField(
        label=pgettext_lazy("glossary", "Definition"),
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "true"}),
    )
    category = CategoryField()
    aliases = NamesField(label=_("Aliases"), help_text=_("Other names of it, one a line."))
    related = NamesField(
        label=_("Related terms"),
        help_text=_("One a line. Those that have an entry become links."),
    )
    version = forms.IntegerField(min_value=1, widget=forms.HiddenInput, required=False)

    def __init__(self, *args: Any, categories: Iterable[tuple[str, Any]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        category = self.fields["category"]
        assert isinstance(category, CategoryField)
        category.offer(categories)

    @property
    def entry_fields(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in GlossaryEntry.FIELDS}


def initial_of(entry: GlossaryEntry) -> dict[str, Any]:
    values = {name: getattr(entry, name) for name in GlossaryEntry.FIELDS}
    return {**values, "version": entry.version}
