from typing import Any

from rest_framework import serializers


class Text(serializers.CharField):
    """A string and nothing else: a number in its place is a mistake in the program that sent it."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)
