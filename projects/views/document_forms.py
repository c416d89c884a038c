"""What people type into the pages of documents."""

from django import forms
from django.utils.translation import gettext_lazy as _

from projects.intake.paths import MAX_PATH_CHARACTERS

PATH = {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false", "class": "mono"}


class PasteForm(forms.Form):
    path = forms.CharField(
        label=_("Path"),
        max_length=MAX_PATH_CHARACTERS,
        widget=forms.TextInput(attrs={**PATH, "placeholder": "notes/kickoff.md"}),
        help_text=_("Folders and a name. Without an ending, .md is added."),
    )
    text = forms.CharField(
        label=_("Text"),
        # Spaces at the start of a text can be code; they are not ours to remove.
        strip=False,
        widget=forms.Textarea(attrs={"rows": 12, "class": "mono", "spellcheck": "true"}),
        help_text=_("Markdown or plain text."),
    )


class RenameForm(forms.Form):
    path = forms.CharField(
        label=_("New path"),
        max_length=MAX_PATH_CHARACTERS,
        widget=forms.TextInput(attrs=PATH),
        help_text=_("Its text and history stay. Links in other documents are not changed."),
    )
