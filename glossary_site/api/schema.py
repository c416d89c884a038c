"""How the OpenAPI schema tells the truth: who may call, and what goes wrong with which status."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from django.conf import settings
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers

F = TypeVar("F", bound=Callable[..., Any])

MEANINGS = {
    400: "A field or parameter is missing or wrong; `fields` says which.",
    401: "Not signed in, or the token is not valid.",
    403: "Your role or your permissions do not allow it, or the CSRF token is missing.",
    404: "It does not exist, or you are not a member of its project.",
    409: "It contradicts what is there already; `code` says how.",
    412: "It is not the version that `If-Match` names.",
    413: "The request is larger than the site accepts.",
    415: "The body is in a format that this address does not take.",
}


class ErrorSerializer(serializers.Serializer[Any]):
    """Every error of the API."""

    code = serializers.CharField(help_text="For programs: one word that never changes.")
    detail = serializers.CharField(help_text="For people: a sentence in their language.")
    fields = serializers.DictField(  # type: ignore[assignment]
        required=False, help_text="With the code `invalid`: what is wrong with which field."
    )


def operation(
    operation_id: str,
    *,
    tag: str,
    summary: str,
    responses: dict[Any, Any],
    errors: Iterable[int] = (),
    **options: Any,
) -> Callable[[F], F]:
    """Describe one method of an endpoint: its answers, and 401 with the errors it can give."""
    for status in sorted({401, *errors}):
        responses[status] = OpenApiResponse(ErrorSerializer, description=MEANINGS[status])
    # Else the docstring of the class is taken, which speaks to whoever reads the code.
    options.setdefault("description", "")
    return extend_schema(
        operation_id=operation_id, tags=[tag], summary=summary, responses=responses, **options
    )


class TokenScheme(OpenApiAuthenticationExtension):
    target_class = "glossary_site.people.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "A personal API token (`gls_…`), made on the account page.",
        }


class SessionScheme(OpenApiAuthenticationExtension):
    target_class = "glossary_site.api.authentication.SessionAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {
            "type": "apiKey",
            "in": "cookie",
            "name": settings.SESSION_COOKIE_NAME,
            "description": "The cookie of somebody who is signed in on the pages.",
        }
