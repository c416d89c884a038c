"""Fields that an endpoint does not know: mistakes of the program that sent them.

What is misspelled would otherwise be left out in silence, and the program told that all is well.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers

# What forms of pages send besides.
OF_EVERY_FORM = {"csrfmiddlewaretoken"}
Schema = dict[str, Any]


def unknown_fields(asked: Any, data: Any) -> dict[Any, Any]:
    """What is wrong with which field of a body, in the shape that REST framework says it in."""
    match asked, data:
        case serializers.Serializer(), Mapping():
            known = asked.fields
            wrong: dict[Any, Any] = {
                name: [_unknown(known)] for name in data if name not in {*known, *OF_EVERY_FORM}
            }
            for name, field in known.items():
                if inside := unknown_fields(field, data.get(name)):
                    wrong[name] = inside
            return wrong
        case ((serializers.ListField() | serializers.ListSerializer()), list()):
            each = ((number, unknown_fields(asked.child, one)) for number, one in enumerate(data))
            return {number: wrong for number, wrong in each if wrong}
    return {}


def _unknown(names: Iterable[str]) -> str:
    return _("There is no such field. Known here: %(names)s.") % {"names": ", ".join(names)}


def close_bodies(result: Schema, **_options: Any) -> Schema:
    """For drf-spectacular: say of every object in a request that it has no other properties."""
    components = result.get("components", {}).get("schemas", {})
    bodies = (
        operation["requestBody"]
        for methods in result["paths"].values()
        for operation in methods.values()
        if isinstance(operation, dict) and "requestBody" in operation
    )
    waiting: list[Any] = list(bodies)
    closed = set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting.extend(node)
        elif isinstance(node, dict):
            name = str(node.get("$ref", "")).rpartition("/")[2]
            if name and name not in closed:
                closed.add(name)
                waiting.append(components[name])
            if isinstance(node.get("properties"), dict):
                node.setdefault("additionalProperties", False)
            waiting.extend(node.values())
    return result
