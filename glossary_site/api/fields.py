from typing import Any, NoReturn

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers


class Text(serializers.CharField):
    """A string and nothing else: a number in its place is a mistake in the program that sent it."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class Choice(serializers.ChoiceField):
    """One of a few words. Whoever sends another is told which there are."""

    default_error_messages = {"invalid_choice": _("“{input}” is none of: {choices}.")}

    def fail(self, key: str, **kwargs: Any) -> NoReturn:
        super().fail(key, choices=", ".join(map(str, self.choices)), **kwargs)
