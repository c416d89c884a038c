"""What operators type about a repository."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from collection.forms import WrittenOnly
from collection.models import Repository
from collection.services.documents import Loss
from collection.services.repositories import BadField, cleaned_wishes, loss_by

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

    confirm = forms.BooleanField(
        label=_("documents may go"),
        required=False,
        help_text=_("Those whose files are no longer asked for, at the next collection."),
    )

    class Meta:
        model = Repository
        fields = ("project", *WISHES)
        help_texts = {"project": _("Empty: for all projects, with commits and no documents.")}

    # Which documents the change would cost, once it is known.
    loss: Loss | None = None

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or {}
        if not self.errors:
            stored = Repository.objects.filter(pk=self.instance.pk).first()
            try:
                wishes = cleaned_wishes(
                    stored or Repository(project=values.get("project")), **self.wishes()
                )
                self.loss = loss_by(stored, wishes) if stored else None
            except BadField as refusal:
                field = "new_secret" if refusal.field == "secret" else refusal.field
                self.add_error(field if field in self.fields else None, str(refusal))
            if self.loss and not values["confirm"]:
                self.add_error("confirm", [str(self.loss), *self.loss.named])
        return values

    def confirmed(self) -> str:
        return self.loss.token if self.loss else ""

    def wishes(self) -> dict[str, Any]:
        values = {name: self.cleaned_data[name] for name in WISHES if name in self.cleaned_data}
        return values | {"secret": self.cleaned_data["new_secret"]}
