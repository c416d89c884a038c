"""What people type into the pages of a project. Forms check the shape; services decide."""

from typing import Any
from unicodedata import normalize

from django import forms
from django.utils.translation import gettext_lazy as _

from glossary_site.people.models import USERNAME_LENGTH
from projects.choices import Language, Role
from projects.models import DESCRIPTION_LENGTH, NAME_LENGTH, Project


class ProjectForm(forms.Form):
    """Name, description and language, to make a project or to change one.

    Not a ModelForm: that would write into the project before the service can see what differs.
    """

    name = forms.CharField(
        label=_("Name"),
        max_length=NAME_LENGTH,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    description = forms.CharField(
        label=_("Description"),
        max_length=DESCRIPTION_LENGTH,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("One or two sentences that tell others what is in it."),
    )
    language = forms.ChoiceField(
        label=_("Main language"),
        choices=Language.choices,
        help_text=_("The language most of its documents are written in."),
    )


class CloneForm(forms.Form):
    name = forms.CharField(
        label=_("Name of the copy"),
        max_length=NAME_LENGTH,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )


class DeleteForm(forms.Form):
    """The name, typed again: nobody deletes the wrong project by a slip."""

    confirm_name = forms.CharField(
        # Decomposed it may be longer than the name is allowed to be.
        max_length=4 * NAME_LENGTH,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project
        self.fields["confirm_name"].label = _("Type “%(name)s” to confirm") % {"name": project.name}

    def clean_confirm_name(self) -> str:
        name: str = self.cleaned_data["confirm_name"]
        # The same name may reach us composed or decomposed, depending on the keyboard.
        if normalize("NFC", name) != normalize("NFC", self.project.name.strip()):
            raise forms.ValidationError(
                _("This is not the name of the project. Nothing was deleted.")
            )
        return name


class RoleForm(forms.Form):
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices)


class MemberForm(RoleForm):
    username = forms.CharField(
        label=_("Username"),
        max_length=USERNAME_LENGTH,
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )

    field_order = ("username", "role")
