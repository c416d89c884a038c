from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django_filters import BooleanFilter
from rest_framework import serializers


class FlagField(forms.NullBooleanField):
    widget = forms.TextInput

    def to_python(self, value: Any) -> Any:  # the stubs know of no third answer
        asked = str(value or "").strip().lower()
        flag: bool | None = super().to_python(asked)
        if asked and flag is None:
            raise ValidationError(serializers.BooleanField.default_error_messages["invalid"])
        return flag


class Flag(BooleanFilter):
    """`true` or `false`. The library takes any other word for no wish at all."""

    field_class = FlagField
