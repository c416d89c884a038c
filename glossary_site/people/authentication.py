"""How a program says who it is: `Authorization: Bearer gls_…`."""

from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from glossary_site.people.models import User
from glossary_site.people.services import user_of_token

SCHEMES = ("bearer", "token")


def token_in(header: str) -> str | None:
    """The token in an Authorization header; None when it holds something else."""
    scheme, _space, secret = header.partition(" ")
    return secret.strip() if scheme.lower() in SCHEMES else None


class TokenAuthentication(BaseAuthentication):
    def authenticate(self, request: Request | HttpRequest) -> tuple[User, None] | None:
        secret = token_in(request.META.get("HTTP_AUTHORIZATION", ""))
        if secret is None:
            return None
        user = user_of_token(secret)
        if user is None:
            raise AuthenticationFailed(_("This API token is not valid."), code="invalid_token")
        return user, None

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"
