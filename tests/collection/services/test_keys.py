"""Private keys as people paste them, made by the program that makes them everywhere."""

import subprocess

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from collection.services.keys import KEY_LENGTH, BadKey, clean_key


def make_key(folder, kind: str = "ed25519", *more: str, passphrase: str = "") -> str:
    subprocess.run(
        ["ssh-keygen", "-q", "-t", kind, "-N", passphrase, "-C", "", "-f", folder / "key", *more],
        check=True,
    )
    return (folder / "key").read_text()


def public_half(folder, key: str) -> str:
    """What ssh-keygen reads out of a key: two that have it in common are the same."""
    file = folder / "cleaned"
    file.write_text(key)
    file.chmod(0o600)
    shown = subprocess.run(
        ["ssh-keygen", "-y", "-P", "", "-f", file], check=True, capture_output=True, text=True
    )
    return " ".join(shown.stdout.split()[:2])


def complaint(text: str) -> str:
    with pytest.raises(BadKey) as error:
        clean_key(text)
    # Nothing of the key is in what may end in a log.
    assert error.value.__cause__ is None
    return str(error.value)


@pytest.mark.parametrize(
    "made",
    [
        ("ed25519",),
        ("ecdsa",),
        ("rsa", "-b", "1024"),
        ("rsa", "-b", "1024", "-m", "PEM"),
        ("rsa", "-b", "1024", "-m", "PKCS8"),
        ("ecdsa", "-m", "PEM"),
    ],
    ids=" ".join,
)
def test_every_way_of_writing_one(tmp_path, made):
    cleaned = clean_key(make_key(tmp_path, *made))
    assert cleaned.startswith("-----BEGIN OPENSSH PRIVATE KEY-----\n")
    assert cleaned.endswith("\n-----END OPENSSH PRIVATE KEY-----\n")
    published = (tmp_path / "key.pub").read_text().split()
    assert public_half(tmp_path, cleaned) == " ".join(published[:2])
    assert public_half(tmp_path, clean_key(cleaned)) == public_half(tmp_path, cleaned)


@pytest.mark.parametrize(
    "mangle",
    [
        lambda key: key.replace("\n", "\r\n"),
        lambda key: key.replace("\n", "\r"),
        lambda key: key.strip(),
        lambda key: "\n\n  " + key.replace("\n", "\n    ") + "\n\n",
        lambda key: "deploy key:\n" + key,
    ],
    ids=["windows", "old mac", "no last line end", "indented", "with a remark"],
)
def test_what_clipboards_make_of_one(tmp_path, mangle):
    key = make_key(tmp_path)
    assert public_half(tmp_path, clean_key(mangle(key))) == public_half(tmp_path, key)


@pytest.mark.parametrize("form", [(), ("-m", "PEM"), ("-m", "PKCS8")], ids=["own", "pem", "pkcs8"])
def test_with_a_passphrase(tmp_path, form):
    key = make_key(tmp_path, "rsa", "-b", "1024", *form, passphrase="sesame")
    assert "has a passphrase" in complaint(key)


def test_what_is_none(tmp_path):
    key = make_key(tmp_path)
    lines = key.splitlines()
    assert "public key" in complaint((tmp_path / "key.pub").read_text())
    assert "PuTTY" in complaint("PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\n")
    assert "not a whole private key" in complaint("\n".join(lines[:-1]))
    assert "not a whole private key" in complaint("glpat-0123456789")
    assert "damaged" in complaint("\n".join([*lines[:3], lines[3][:-8], *lines[4:]]))
    assert "too long" in complaint(key + "x" * KEY_LENGTH)


def test_of_a_kind_that_opens_no_repository():
    key = X25519PrivateKey.generate()
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    assert "ssh-keygen -t ed25519" in complaint(pem.decode())
