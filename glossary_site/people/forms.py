from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm
from django.utils.translation import gettext_lazy as _

from glossary_site.people.models import ApiToken


class SignInForm(AuthenticationForm):
    # The same words for an unknown name, a wrong password and a closed account: a stranger learns
    # nothing about who has an account here.
    error_messages = {
        "invalid_login": _("The username or the password is not right. Please try again."),
        "inactive": _("The username or the password is not right. Please try again."),
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.data.get("username"):
            # Asked again, it is mostly the password that was mistyped.
            self.fields["username"].widget.attrs.pop("autofocus", None)
            self.fields["password"].widget.attrs["autofocus"] = True


class TokenForm(forms.Form):
    name = forms.CharField(
        label=_("What is it for?"),
        max_length=ApiToken._meta.get_field("name").max_length,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        help_text=_("A name to recognise it by, such as “nightly import”."),
    )
