"""Private keys as people paste them."""

import re

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
    load_ssh_private_key,
)
from django.utils.translation import gettext as _

# The longest are of RSA: one of 16,384 bits has some 13,000 characters.
KEY_LENGTH = 20_000
BLOCK = re.compile(r"-----BEGIN ([A-Z0-9 ]*PRIVATE KEY)-----\n.+?\n-----END \1-----", re.DOTALL)
PUBLIC = re.compile(r"(ssh-|ecdsa-sha2-|sk-)\S+ AAAA|-----BEGIN [A-Z0-9 ]*PUBLIC KEY-----")
Key = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey


class BadKey(ValueError):
    """What is wrong with it, in words that show nothing of it."""


def looks_like_key(text: str) -> bool:
    return "PRIVATE KEY-----" in text or text.startswith("PuTTY-User-Key-File")


def clean_key(text: str) -> str:
    """The key as ssh reads it. Clipboards and forms change the ends of lines and indent them; what
    older programs wrote in PEM is written anew."""
    text = "\n".join(line.strip() for line in text.strip().splitlines())
    if len(text) > KEY_LENGTH:
        raise BadKey(_("This is too long for a private key."))
    if PUBLIC.match(text):
        raise BadKey(
            _(
                "This is a public key, which goes to the host. Paste the private one that "
                "belongs to it."
            )
        )
    if text.startswith("PuTTY-User-Key-File"):
        raise BadKey(
            _("This is a key of PuTTY. Export it as an OpenSSH key (in PuTTYgen: “Conversions”).")
        )
    block = BLOCK.search(text)
    if block is None:
        raise BadKey(
            _(
                "This is not a whole private key: it begins with “-----BEGIN OPENSSH PRIVATE "
                "KEY-----” and has a last line of the same kind."
            )
        )
    pem = f"{block.group()}\n"
    key = _loaded(pem, openssh=block.group(1) == "OPENSSH PRIVATE KEY")
    return key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()).decode()


def _loaded(pem: str, *, openssh: bool) -> Key:
    load = load_ssh_private_key if openssh else load_pem_private_key
    try:
        key = load(pem.encode(), password=None)
    except TypeError:
        raise BadKey(
            _(
                "The key has a passphrase, and nobody is there to type it. Make a key without one "
                'for this repository (ssh-keygen -N ""), which may read and nothing else.'
            )
        ) from None
    except UnsupportedAlgorithm:
        raise _unusable() from None
    except ValueError:
        # Without the cause: a trace of it could carry the key into a log.
        raise BadKey(_("The private key is damaged: it cannot be read.")) from None
    if not isinstance(key, Key):
        raise _unusable()
    return key


def _unusable() -> BadKey:
    return BadKey(
        _("Keys of this kind cannot be used here. Make an Ed25519 key (ssh-keygen -t ed25519).")
    )
