"""Who is at the other end of a socket, and whether the page that opened it is ours."""

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.db import SessionStore
from django.http.cookie import parse_cookie
from django.http.request import split_domain_port, validate_host
from django.utils.crypto import constant_time_compare

from glossary_site.people.authentication import token_in
from glossary_site.people.models import User
from glossary_site.people.services import user_of_token


def header(scope: dict[str, Any], name: bytes) -> str:
    for key, value in scope["headers"]:
        if key == name:
            return str(value.decode("latin-1"))
    return ""


def user_of(scope: dict[str, Any]) -> User | AnonymousUser:
    """The person behind a connection, looked up anew: they may have signed out since."""
    secret = token_in(header(scope, b"authorization"))
    if secret is not None:
        return user_of_token(secret) or AnonymousUser()
    key = parse_cookie(header(scope, b"cookie")).get(settings.SESSION_COOKIE_NAME)
    session = SessionStore(key).load() if key else {}
    if session.get(BACKEND_SESSION_KEY) not in settings.AUTHENTICATION_BACKENDS:
        return AnonymousUser()
    user = User.objects.filter(pk=session[SESSION_KEY], is_active=True).first()
    # A changed password ends the sessions made with the old one.
    if user and constant_time_compare(
        session.get(HASH_SESSION_KEY, ""), user.get_session_auth_hash()
    ):
        return user
    return AnonymousUser()


def is_our_page(scope: dict[str, Any]) -> bool:
    """Whether a socket was opened by a page of this site, or by a program with a token.

    Browsers send cookies along with a foreign page's socket, so the Origin must be ours; programs
    send no Origin, and then only a token counts.
    """
    host = header(scope, b"host")
    if not validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS):
        return False
    origin = header(scope, b"origin")
    if not origin:
        return token_in(header(scope, b"authorization")) is not None
    if origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    page = urlsplit(origin)
    # Where cookies need TLS, a page without it may have been written by anybody on the way.
    schemes = ["https"] if settings.SESSION_COOKIE_SECURE else ["http", "https"]
    return page.scheme in schemes and page.netloc.lower() == host.lower()
