"""What owners type into the search settings. Forms check the shape; services decide."""

from django import forms
from django.utils.translation import gettext_lazy as _

from indexing.models.folders import PATH_LENGTH

CODE = {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false", "class": "mono"}

SITE = ""
EMBEDDERS = [
    (SITE, _("The site’s choice")),
    ("wordllama", _("WordLlama, built in")),
    ("minilm", _("MiniLM, built in")),
    ("openai", _("The embeddings of the language model’s server")),
    ("none", _("None: search by words alone")),
]


class EmbedderForm(forms.Form):
    embedder = forms.ChoiceField(label=_("Search by meaning"), choices=EMBEDDERS, required=False)


class FolderForm(forms.Form):
    directory = forms.CharField(
        label=_("Folder"),
        max_length=PATH_LENGTH,
        widget=forms.TextInput(attrs=CODE),
    )
    include = forms.CharField(
        label=_("Only these"),
        required=False,
        widget=forms.Textarea(attrs={**CODE, "rows": 3, "placeholder": "*.md\ndocs/"}),
        help_text=_("A pattern a line, as in .gitignore. Empty: every file that can be read."),
    )
    exclude = forms.CharField(
        label=_("Not these"),
        required=False,
        widget=forms.Textarea(attrs={**CODE, "rows": 3, "placeholder": "drafts/\n*.tmp.md"}),
        help_text=_("A pattern a line. What the folder’s own .gitignore names is left out, too."),
    )
    enabled = forms.BooleanField(label=_("Follow its changes"), required=False, initial=True)
