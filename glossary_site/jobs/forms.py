from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from glossary_site.errors import Refusal
from glossary_site.jobs import registry
from glossary_site.jobs.models import JobDefinition
from glossary_site.jobs.services.definitions import FIELDS, check_definition


class DefinitionForm(forms.ModelForm):
    """What the services would refuse is said at its field."""

    kind = forms.ChoiceField(label=_("kind"))
    payload = forms.JSONField(
        label=_("payload"),
        required=False,
        initial=dict,
        help_text=_("What the work is told, as JSON, such as {}."),
    )
    # The one that the person who types has seen.
    version = forms.IntegerField(widget=forms.HiddenInput, required=False)

    class Meta:
        model = JobDefinition
        fields = FIELDS

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["version"] = self.instance.version
        kind = self.fields.get("kind")
        # Who may only look has no fields.
        if isinstance(kind, forms.ChoiceField):
            known = {kind.name for kind in registry.kinds() if kind.schedulable}
            # One that is not there any more is still shown as what it is.
            names = known | {self.instance.kind} - {""}
            kind.choices = [(name, name) for name in sorted(names)]

    def clean_payload(self) -> dict[str, Any]:
        payload = self.cleaned_data["payload"]
        return {} if payload is None else payload

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or {}
        if not self.errors:
            try:
                check_definition(JobDefinition(**{field: values[field] for field in FIELDS}))
            except Refusal as refusal:
                field = refusal.details.get("field")
                self.add_error(field if field in self.fields else None, str(refusal))
        return values

    def values(self) -> dict[str, Any]:
        return {field: self.cleaned_data[field] for field in FIELDS}
