"""How a repository is reached: what git is told, in files that nobody else can read.

A secret is never an argument and never in the environment, which other programs of the same user
can look at for as long as the process lives. It lies in a file of a folder that is this process's
own and is removed with it; what a killed process left there is swept away by the next.
"""

import os
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urlsplit

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import (
    load_pem_private_key,
    load_ssh_private_key,
)
from django.utils.translation import gettext as _

from collection.choices import State
from collection.origins.data import OriginProblem
from collection.origins.git.program import ssh_program
from glossary_site.outbound.guard import Target, check_url

# Most hosts look at the token alone.
ANY_USER = "git"
# A server that sends less than this for so long is as good as silent.
LOW_SPEED = {"lowSpeedLimit": "100", "lowSpeedTime": "60"}
SSH_CONNECT_SECONDS = 10
KEY_LINE = re.compile(r"[^\s#][^\n]*")


@dataclass(frozen=True)
class Way:
    """To one repository: what git is given as its address, and what is in force meanwhile."""

    url: str
    protocol: str
    # (section, subsection or "", name) → value
    config: Mapping[tuple[str, str, str], str]
    environment: Mapping[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()


def local_way(folder: str, *, trusted: bool) -> Way:
    """`folder` is what git keeps of the repository: that one, and none beside or below it that git
    would look for in its place."""
    # The operator has named the folders below which repositories may be read, whoever owns them.
    config = {("safe", "", "directory"): folder} if trusted else {}
    exactly = ("--upload-pack=git-upload-pack --strict",)
    return Way(url=folder, protocol="file", config=config, options=exactly)


def web_way(address: str, *, folder: Path, username: str, secret: str) -> Way:
    target = check_url(address)
    url = target.url
    config = {
        ("http", "", "followRedirects"): "false",
        ("http", "", "proxy"): "",
        **{("http", "", name): value for name, value in LOW_SPEED.items()},
    }
    if not _is_literal(target):
        # The name is not looked up again: whoever answers differently now is not asked.
        addresses = ",".join(_bracketed(one) for one in target.addresses)
        config["http", "", "curloptResolve"] = f"{url.host}:{url.port}:{addresses}"
    if authorities := os.environ.get("SSL_CERT_FILE"):
        # Whom Python trusts, git trusts too.
        config["http", "", "sslCAInfo"] = authorities
    if secret:
        store = folder / "credentials"
        known_to = urlsplit(str(url)).netloc
        user = quote(username or ANY_USER, safe="")
        _write(store, f"{url.scheme}://{user}:{quote(secret, safe='')}@{known_to}\n")
        config["credential", "", "helper"] = f"store --file={shlex.quote(str(store))}"
    return Way(url=str(url), protocol=url.scheme, config=config)


def ssh_way(
    address: str, *, target: Target, to: str, folder: Path, secret: str, host_keys: str
) -> Way:
    """`to` is the one of the target's addresses that is tried."""
    known, key, settings = folder / "known_hosts", folder / "key", folder / "ssh_config"
    _write(known, host_keys)
    if secret:
        text = secret.replace("\r\n", "\n").strip() + "\n"
        _require_open(text)
        _write(key, text)
    options = {
        "HostName": to,
        "HostKeyAlias": target.url.host,
        "UserKnownHostsFile": _quoted(known),
        "GlobalKnownHostsFile": "/dev/null",
        # The first time, the key of the host is taken as it is; from then on it must be that one.
        "StrictHostKeyChecking": "yes" if host_keys.strip() else "accept-new",
        "UpdateHostKeys": "no",
        "HashKnownHosts": "no",
        "CheckHostIP": "no",
        "IdentityFile": _quoted(key) if secret else "none",
        "IdentitiesOnly": "yes",
        "IdentityAgent": "none",
        "PreferredAuthentications": "publickey",
        "BatchMode": "yes",
        "ProxyCommand": "none",
        "ProxyJump": "none",
        "ControlMaster": "no",
        "ControlPath": "none",
        "PermitLocalCommand": "no",
        "ForwardAgent": "no",
        "ForwardX11": "no",
        "ClearAllForwardings": "yes",
        "ConnectTimeout": str(SSH_CONNECT_SECONDS),
        "ServerAliveInterval": "15",
        "ServerAliveCountMax": "4",
    }
    _write(settings, "Host *\n" + "".join(f"  {name} {value}\n" for name, value in options.items()))
    return Way(
        url=address,
        protocol="ssh",
        config={},
        environment={
            "GIT_SSH_COMMAND": shlex.join([ssh_program(), "-F", str(settings)]),
            "GIT_SSH_VARIANT": "ssh",
        },
    )


def _require_open(key: str) -> None:
    """Ssh says nothing about a key that it cannot ask the passphrase of; we do."""
    data = key.encode()
    load = load_ssh_private_key if b"OPENSSH" in data else load_pem_private_key
    try:
        load(data, None)
    except TypeError:
        raise OriginProblem(
            State.DENIED,
            _("The stored key has a passphrase, which nobody is there to type. Store one without."),
        ) from None
    except (ValueError, UnsupportedAlgorithm):
        pass  # ssh knows more kinds of keys, and says when it knows none


def learnt_keys(folder: Path) -> str:
    """The host's keys as ssh knows them by now."""
    try:
        text = (folder / "known_hosts").read_text()
    except FileNotFoundError:
        return ""
    return "".join(f"{line}\n" for line in KEY_LINE.findall(text))


def config_text(entries: Iterable[tuple[tuple[str, str, str], str]]) -> str:
    lines = []
    for (section, subsection, name), value in entries:
        head = f"{section} {_in_quotes(subsection)}" if subsection else section
        lines.append(f"[{head}]\n\t{name} = {_in_quotes(value)}\n")
    return "".join(lines)


def write_config(path: Path, entries: Mapping[tuple[str, str, str], str]) -> None:
    _write(path, config_text(entries.items()))


def _write(path: Path, text: str) -> None:
    """Readable by us alone, from its first byte."""
    path.unlink(missing_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(text)


def _in_quotes(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _quoted(path: Path) -> str:
    # ssh expands "%" in the names of files.
    return '"' + str(path).replace("%", "%%") + '"'


def _is_literal(target: Target) -> bool:
    return target.addresses == (target.url.host,)


def _bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address
