"""What people type about a provider. The forms check the shape; the service decides."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from glossary_site.llm.choices import ProviderKind, Strategy
from glossary_site.llm.models import Provider
from glossary_site.llm.models.provider import (
    MAX_CONCURRENCY,
    MAX_SECONDS,
    MAX_TOKENS,
    MODEL_LENGTH,
    PRICE,
    QUERY_LENGTH,
    URL_LENGTH,
)
from glossary_site.llm.services.providers import FACTS, KEY_LENGTH, Wish

PLAIN = {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}


class KeyForm(forms.Form):
    """A key is written and never shown again."""

    api_key = forms.CharField(
        label=_("API key"),
        max_length=KEY_LENGTH,
        required=False,
        # A browser would else fill in the password of whoever is signed in.
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password", "spellcheck": "false"}),
        help_text=_("It is stored encrypted and never shown again. Blank keeps the stored one."),
    )
    clear_key = forms.BooleanField(label=_("Forget the stored key"), required=False)


class ProviderForm(KeyForm):
    kind = forms.ChoiceField(choices=ProviderKind.choices)
    base_url = forms.CharField(
        label=_("Address"),
        max_length=URL_LENGTH,
        required=False,
        widget=forms.TextInput(attrs={**PLAIN, "placeholder": "https://api.openai.com/v1"}),
        help_text=_(
            "The base URL of the server, which mostly ends in /v1. Another address forgets the "
            "stored key."
        ),
        error_messages={"required": _("A server needs its address.")},
    )
    model = forms.CharField(
        label=_("Model"),
        max_length=MODEL_LENGTH,
        required=False,
        widget=forms.TextInput(attrs=PLAIN),
        help_text=_("The name by which the server knows it."),
        error_messages={"required": _("A server needs the name of a model.")},
    )
    bulk_strategy = forms.ChoiceField(
        label=_("Many requests"),
        choices=Strategy.choices,
        help_text=_("Batches are cheaper where the server has them, and slower."),
    )
    concurrency = forms.IntegerField(
        label=_("Requests at a time"), min_value=1, max_value=MAX_CONCURRENCY
    )
    request_timeout = forms.IntegerField(
        label=_("Seconds for one answer"), min_value=1, max_value=MAX_SECONDS
    )
    input_price = forms.DecimalField(
        label=_("Price of a million tokens read"),
        min_value=0,
        required=False,
        **PRICE,
    )
    output_price = forms.DecimalField(
        label=_("Price of a million tokens written"),
        min_value=0,
        required=False,
        **PRICE,
    )
    context_tokens = forms.IntegerField(
        label=_("Most tokens read"), min_value=1, max_value=MAX_TOKENS, required=False
    )
    output_tokens = forms.IntegerField(
        label=_("Most tokens written"), min_value=1, max_value=MAX_TOKENS, required=False
    )
    query = forms.CharField(
        label=_("Query"),
        max_length=QUERY_LENGTH,
        required=False,
        widget=forms.TextInput(attrs={**PLAIN, "placeholder": "api-version=2024-10-21"}),
        help_text=_("Put behind every address, for Azure."),
    )
    # What the person saw: whoever saves over a change they have not seen is told.
    version = forms.IntegerField(widget=forms.HiddenInput, min_value=0)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # These belong to a server; while nothing is chosen yet, they are shown as if it were one.
        chosen = self.data.get("kind", ProviderKind.OPENAI)
        for name in ("base_url", "model"):
            self.fields[name].required = chosen == ProviderKind.OPENAI
            self.fields[name].widget.is_required = False

    def wish(self) -> Wish:
        return wish_of(self.cleaned_data)


def wish_of(values: dict[str, Any]) -> Wish:
    return Wish(**{name: values[name] for name in FACTS if name in values})


def initial_of(row: Provider | None) -> dict[str, Any]:
    """What a form shows at first; everything but the key."""
    shown = row or Provider()
    return {name: getattr(shown, name) for name in FACTS} | {"version": row.version if row else 0}
