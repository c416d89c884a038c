"""What people type about a repository. The form checks the shape; the service decides."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from collection.choices import Kind
from collection.models import Repository
from collection.models.repository import ADDRESS_LENGTH

CODE = {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false", "class": "mono"}
# The fields of the form that a key may be typed into.
SECRETS = ("token", "deploy_key")


class WrittenOnly(forms.Textarea):
    """No page carries a key, not even the one that was just typed, nor does the browser keep it."""

    def build_attrs(
        self, base_attrs: dict[str, Any], extra_attrs: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        return {**super().build_attrs(base_attrs, extra_attrs), "data-secret": True}

    def format_value(self, value: Any) -> str:
        return ""


class RepositoryForm(forms.Form):
    address = forms.CharField(
        label=_("Address"),
        max_length=ADDRESS_LENGTH,
        widget=forms.TextInput(
            attrs={**CODE, "placeholder": "https://git.example.com/group/project.git"}
        ),
        help_text=_(
            "As for “git clone”: https://…, ssh://… or git@host:path; the web address of a project "
            "on GitLab or GitHub for their APIs."
        ),
        error_messages={"required": _("A repository needs its address.")},
    )
    kind = forms.ChoiceField(
        label=_("Kind"),
        choices=[("", _("As the address looks")), *Kind.choices],
        required=False,
    )
    name = forms.CharField(
        label=_("Name"),
        max_length=200,
        required=False,
        help_text=_("Empty: the last part of the address."),
    )
    for_all = forms.BooleanField(label=_("For all projects"), required=False)
    username = forms.CharField(
        label=_("User name"),
        max_length=200,
        required=False,
        widget=forms.TextInput(attrs={**CODE, "placeholder": "git"}),
        help_text=_("Beside the token. Most hosts take any."),
    )
    token = forms.CharField(
        label=_("Access token"),
        required=False,
        # A browser would else fill in the password of whoever is signed in.
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password", "spellcheck": "false"}),
        help_text=_("One that may read, and nothing else. It is stored encrypted and never shown."),
    )
    deploy_key = forms.CharField(
        label=_("Deploy key"),
        required=False,
        strip=False,
        widget=WrittenOnly(
            attrs={**CODE, "rows": 5, "placeholder": "-----BEGIN OPENSSH PRIVATE KEY-----"}
        ),
        help_text=_(
            "The private key, without a passphrase; its public half goes to the host, for reading "
            "alone. It is stored encrypted and never shown."
        ),
    )
    clear_secret = forms.BooleanField(label=_("Forget the stored key"), required=False)
    forget_host_keys = forms.BooleanField(
        label=_("The host has a new key of its own: take it at the next meeting"), required=False
    )
    branch_patterns = forms.CharField(
        label=_("Branches"),
        required=False,
        widget=forms.Textarea(attrs={**CODE, "rows": 3, "placeholder": "main\nrelease/*"}),
        help_text=_(
            "A name or pattern a line: “release/*” stands for release/1.0 and release/2.0, “*” for "
            "every branch. Empty: the default branch, also when it is renamed."
        ),
    )
    since = forms.DateField(
        label=_("First collection since"),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        help_text=_("Older commits are not collected. Empty: the whole history."),
        error_messages={"invalid": _("Give a date, such as 2024-01-31.")},
    )
    document_patterns = forms.CharField(
        label=_("Document paths"),
        required=False,
        widget=forms.Textarea(attrs={**CODE, "rows": 3, "placeholder": "docs/**/*.md\nREADME.md"}),
        help_text=_(
            "A pattern a line, as in .gitignore; “!” in front takes out again. Files that match "
            "become documents of the project. Empty: commits only."
        ),
    )
    document_folder = forms.CharField(
        label=_("Folder for documents"),
        max_length=500,
        required=False,
        widget=forms.TextInput(attrs=CODE),
        help_text=_("Of the project. Empty: the paths that the files have."),
    )
    document_branch = forms.CharField(
        label=_("Branch of documents"),
        max_length=255,
        required=False,
        widget=forms.TextInput(attrs=CODE),
        help_text=_("Empty: the default branch."),
    )

    def secret(self) -> str:
        """The one that was filled in; where both were, the one that the address needs."""
        token, key = self.cleaned_data.get("token", ""), self.cleaned_data.get("deploy_key", "")
        if token and key.strip():
            return key if uses_key(self.cleaned_data.get("address", "")) else token
        return key if key.strip() else token

    def fields_of_connection(self) -> dict[str, Any]:
        """What it takes to ask the repository."""
        values = self.cleaned_data
        return {
            "address": values["address"],
            "kind": values["kind"] or None,
            "username": values["username"],
            "secret": self.secret(),
            "branch_patterns": lines(values["branch_patterns"]),
        }

    def wishes(self) -> dict[str, Any]:
        """Everything that the service takes, whether it is new or changed."""
        values = self.cleaned_data
        return self.fields_of_connection() | {
            "name": values["name"],
            "since": start_of(values["since"]),
            "document_patterns": lines(values["document_patterns"]),
            "document_folder": values["document_folder"],
            "document_branch": values["document_branch"],
        }


def initial_of(repository: Repository) -> dict[str, Any]:
    """What the form shows at first; everything but the key."""
    return {
        "address": repository.address,
        "kind": repository.kind,
        "name": repository.name,
        "for_all": repository.project_id is None,
        "username": repository.username,
        "branch_patterns": "\n".join(repository.branch_patterns),
        "since": day_of(repository.since),
        "document_patterns": "\n".join(repository.document_patterns),
        "document_folder": repository.document_folder,
        "document_branch": repository.document_branch,
    }


def uses_key(address: str) -> bool:
    """Whether ssh is meant: its own scheme, or the short form `git@host:path`."""
    address = address.strip()
    return address.startswith("ssh://") or (
        "://" not in address and "@" in address and not address.startswith("/")
    )


def lines(text: str) -> Sequence[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def day_of(moment: datetime | None) -> date | None:
    return timezone.localdate(moment) if moment else None


def start_of(day: date | None) -> datetime | None:
    return timezone.make_aware(datetime(day.year, day.month, day.day)) if day else None
