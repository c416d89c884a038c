"""Every write about people: API tokens, passwords and the first administrator."""

import hashlib
import secrets
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from glossary_site.people.models import ApiToken, User

TOKEN_PREFIX = "gls_"  # noqa: S105 (what every token begins with)
FIRST_ADMINISTRATOR = "admin"
# A token's last use is for people to look at: a write a minute is exact enough.
LAST_USE_PRECISION = timedelta(minutes=1)


def digest_of(token: str) -> str:
    """The token is 256 random bits, so a plain hash is as strong as a slow one here."""
    return hashlib.sha256(token.encode()).hexdigest()


def create_token(*, user: User, name: str) -> tuple[ApiToken, str]:
    """Make a token; the second value is the secret, which cannot be read again."""
    secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        user=user, name=name, prefix=secret[: len(TOKEN_PREFIX) + 6], digest=digest_of(secret)
    )
    return token, secret


def revoke_token(*, user: User, token_id: int) -> bool:
    deleted, _ = ApiToken.objects.filter(user=user, pk=token_id).delete()
    return deleted > 0


def user_of_token(secret: str) -> User | None:
    """The active user whose token this is, noting that it was used."""
    token = (
        ApiToken.objects.select_related("user")
        .filter(digest=digest_of(secret), user__is_active=True)
        .first()
    )
    if token is None:
        return None
    now = timezone.now()
    if token.last_used_at is None or token.last_used_at < now - LAST_USE_PRECISION:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token.user


@transaction.atomic
def create_first_administrator() -> tuple[User, str] | None:
    """On a site without people, make the administrator; the second value is the password."""
    if User.objects.exists():
        return None
    password = secrets.token_urlsafe(12)
    user = User.objects.create_superuser(
        FIRST_ADMINISTRATOR, password=password, password_is_temporary=True
    )
    return user, password


def password_was_changed(*, user: User) -> None:
    User.objects.filter(pk=user.pk).update(password_is_temporary=False)
