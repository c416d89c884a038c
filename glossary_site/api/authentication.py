from rest_framework.authentication import SessionAuthentication as BaseSessionAuthentication
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request


class SessionAuthentication(BaseSessionAuthentication):
    """A page of this site, with its cookie. A missing CSRF token gets a code of its own, because
    a program can do something about it."""

    def enforce_csrf(self, request: Request) -> None:
        try:
            super().enforce_csrf(request)
        except PermissionDenied as error:
            raise PermissionDenied(str(error.detail), code="csrf_failed") from error
