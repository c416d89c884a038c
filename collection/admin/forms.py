"""What operators type about a repository."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from collection.forms import WrittenOnly
from collection.models import Repository
from collection.services.repositories import BadField, cleaned_wishes

# What the service is told; the secret comes from a field of its own.
WISHES = (
    "address",
    "kind",
    "name",
    "username",
    "branch_patterns",
    "since",
    "document_patterns",
    "document_folder",
    "document_branch",
)


class Lines(forms.CharField):
    """A list, one to a line."""

    widget = forms.Textarea(attrs={"rows": 4})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value) or ""
        return [line.strip() for line in text.splitlines() if line.strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return self.to_python(data) != (initial or [])


class RepositoryForm(forms.ModelForm):
    """What the service would refuse is said at its field."""

    kind = forms.ChoiceField(
        label=_("kind"),
        required=False,
        choices=[("", _("As the address looks")), *Repository._meta.get_field("kind").flatchoices],
    )
    name = forms.CharField(
        label=_("name"), required=False, help_text=_("Empty: the end of the address.")
    )
    new_secret = forms.CharField(
        label=_("new secret"),
        required=False,
        strip=False,
        widget=WrittenOnly(attrs={"rows": 4, "autocomplete": "off", "spellcheck": "false"}),
        help_text=_(
            "A token, a password, or for ssh a private key without a passphrase. It is encrypted "
            "and never shown again; empty leaves the one that is stored."
        ),
    )
    clear_secret = forms.BooleanField(label=_("forget the stored secret"), required=False)
    branch_patterns = Lines(
        label=_("branches"),
        required=False,
        help_text=_(
            "A name or a pattern on each line; “*” stands for any characters, also for “/”. Empty: "
            "the default branch."
        ),
    )
    document_patterns = Lines(
        label=_("document paths"),
        required=False,
        help_text=_("A pattern on each line, such as docs/**/*.md. Empty: commits only."),
    )

    class Meta:
        model = Repository
        fields = ("project", *WISHES)
        help_texts = {"project": _("Empty: for all projects, with commits and no documents.")}

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or {}
        if not self.errors:
            whose = Repository.objects.filter(pk=self.instance.pk).first()
            whose = whose or Repository(project=values.get("project"))
            try:
                cleaned_wishes(whose, **self.wishes())
            except BadField as refusal:
                field = "new_secret" if refusal.field == "secret" else refusal.field
                self.add_error(field if field in self.fields else None, str(refusal))
        return values

    def wishes(self) -> dict[str, Any]:
        values = {name: self.cleaned_data[name] for name in WISHES if name in self.cleaned_data}
        return values | {"secret": self.cleaned_data["new_secret"]}
