"""Secrets that people store here, such as the key of a language model.

They are encrypted with a key that is not in the database: a copy of the database alone tells
nothing. `GLOSSARY_ENCRYPTION_KEYS` names the keys; the site's secret key is always the last one, so
that naming keys later loses nothing. The first encrypts, all decrypt.
"""

from base64 import urlsafe_b64encode

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.utils.encoding import force_bytes
from django.utils.translation import gettext as _

from glossary_site.errors import Refusal

# What the key is for. Other uses of the same secret get other keys.
PURPOSE = b"glossary-site stored secrets"


class SecretUnreadable(Refusal):
    """Encrypted with a key that is gone. The sentence is all there is to say about it."""

    def __init__(self) -> None:
        super().__init__(
            "secret_unreadable",
            _(
                "The stored key can no longer be read, because the site’s own key has changed. "
                "Type it in again."
            ),
        )


def encrypt(secret: str) -> str:
    return _keys().encrypt(secret.encode()).decode()


def decrypt(token: str) -> str:
    try:
        return _keys().decrypt(token).decode()
    except InvalidToken:
        # Without the cause: a trace of it could carry the token into a log.
        raise SecretUnreadable from None


def _keys() -> MultiFernet:
    secrets = [*settings.ENCRYPTION_KEYS, settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return MultiFernet([Fernet(_derived(force_bytes(secret))) for secret in secrets])


def _derived(secret: bytes) -> bytes:
    return urlsafe_b64encode(
        HKDF(algorithm=SHA256(), length=32, salt=None, info=PURPOSE).derive(secret)
    )
