"""A repository over ssh: with the stored key alone, to the checked address, and to the host that it
was when it was first met."""

import json
import shutil
import subprocess
import sys

import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from collection.choices import Kind, State
from collection.models import Repository
from collection.origins.data import OriginProblem
from collection.origins.git.access import ssh_way
from collection.origins.git.addresses import ssh_target
from collection.origins.git.origin import GitOrigin
from glossary_site.outbound.allowed import parse_allowed
from glossary_site.secrets import encrypt
from tests.collection.git import serving
from tests.collection.git.comparing import all_of

KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\r\nabc\r\n-----END OPENSSH PRIVATE KEY-----"
HOST_KEY = "git.example ssh-ed25519 AAAA\n"

# In place of ssh: notes how it was called and with what files, then does what the host would do.
STAND_IN = """#!{python}
import json, os, re, subprocess, sys
arguments = sys.argv[1:]
config = open(arguments[arguments.index("-F") + 1]).read()
def file(name):
    found = re.search(name + ' "(.*)"', config)
    return found[1] if found and os.path.exists(found[1]) else None
key, hosts = file("IdentityFile"), file("UserKnownHostsFile")
called = {{
    "arguments": arguments,
    "config": dict(line.split(None, 1) for line in config.splitlines()[1:]),
    "key": open(key).read() if key else None,
    "key_mode": os.stat(key).st_mode & 0o777 if key else None,
    "hosts": open(hosts).read(),
    "environment": dict(os.environ),
}}
with open({notes!r}, "a") as notes:
    notes.write(json.dumps(called) + "\\n")
said = {said!r}
if said:
    if not said.startswith("first:") or called["config"]["HostName"] == "127.0.0.1":
        print(said.removeprefix("first:"), file=sys.stderr)
        sys.exit(255)
with open(hosts, "a") as known:
    if not called["hosts"]:
        known.write("git.example ssh-ed25519 AAAA\\n")
command = arguments[-1].replace("'/", "'{root}/")
sys.exit(subprocess.run(["sh", "-c", command]).returncode)
"""


@pytest.fixture
def ssh(tmp_path, source, settings, monkeypatch):
    """Puts the stand-in on the path; gives back how it was called."""
    settings.PRIVATE_URLS_ALLOWED = parse_allowed(["git.example"])
    serving.leading_to(monkeypatch, git_example="127.0.0.1")
    source.commit("main", {"a": b"1\n"})
    source.write()
    programs, notes = tmp_path / "programs", tmp_path / "notes"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs), prepend=":")

    def put(said: str = ""):
        program = programs / "ssh"
        program.write_text(
            STAND_IN.format(
                python=sys.executable, notes=str(notes), said=said, root=tmp_path / "sources"
            )
        )
        program.chmod(0o755)

    put()
    called = lambda: [json.loads(line) for line in notes.read_text().splitlines()]  # noqa: E731
    return called, put


def repository(**fields) -> Repository:
    return Repository(pk=1, kind=Kind.GIT, address="ssh://git@git.example/one.git", **fields)


def test_with_the_stored_key_alone(ssh, source):
    called, _put = ssh
    with GitOrigin(repository(secret=encrypt(KEY))) as origin:
        heads = origin.heads()
        assert heads.branches == {"main": source.head()}
        assert origin.host_keys == HOST_KEY
        origin.bring(heads.branches)
        assert len(all_of(origin.history(source.head()))) == 1
    first, second = called()
    config = first["config"]
    assert config["HostName"] == "127.0.0.1"
    assert config["HostKeyAlias"] == "git.example"
    assert (config["IdentitiesOnly"], config["IdentityAgent"]) == ("yes", "none")
    assert (config["BatchMode"], config["ProxyCommand"]) == ("yes", "none")
    assert first["key"] == KEY.replace("\r\n", "\n") + "\n"
    assert first["key_mode"] == 0o600
    assert first["hosts"] == ""
    assert config["StrictHostKeyChecking"] == "accept-new"
    # From then on it must be that host.
    assert second["hosts"] == HOST_KEY
    assert second["config"]["StrictHostKeyChecking"] == "yes"
    told = json.dumps([first["arguments"], first["environment"]])
    assert "PRIVATE KEY" not in told
    assert "SSH_AUTH_SOCK" not in told


def test_the_host_is_remembered(ssh):
    called, _put = ssh
    with GitOrigin(repository(host_keys=HOST_KEY)) as origin:
        origin.heads()
        assert origin.host_keys == HOST_KEY
    (call,) = called()
    assert (call["hosts"], call["config"]["StrictHostKeyChecking"]) == (HOST_KEY, "yes")
    assert call["config"]["IdentityFile"] == "none"


@pytest.mark.parametrize(
    ("said", "state", "again"),
    [
        ("git@x: Permission denied (publickey).", State.DENIED, False),
        ("Host key verification failed.", State.REFUSED, False),
        ("ssh: connect to host 127.0.0.1 port 22: Connection refused", State.UNREACHABLE, True),
        ("ssh: connect to host x port 22: Connection timed out", State.UNREACHABLE, True),
        ("kex_exchange_identification: Connection closed", State.UNREACHABLE, True),
        ("ERROR: Repository not found.", State.NOT_FOUND, False),
        ('Load key "/x/key": invalid format', State.DENIED, False),
        ("", State.UNREACHABLE, True),
    ],
)
def test_what_goes_wrong(ssh, said, state, again):
    _called, put = ssh
    put(said or " ")
    with GitOrigin(repository()) as origin, pytest.raises(OriginProblem) as problem:
        origin.heads()
    assert (problem.value.state, problem.value.again) == (state, again)
    assert "/key" not in problem.value.message


def test_a_host_with_several_addresses(ssh, monkeypatch):
    called, put = ssh
    put("first:ssh: connect to host 127.0.0.1 port 22: Connection refused")
    answers = [(2, 1, 6, "", (address, 22)) for address in ("127.0.0.1", "127.0.0.2")]
    monkeypatch.setattr(
        "glossary_site.outbound.guard.socket.getaddrinfo", lambda *_asked, **_options: answers
    )
    with GitOrigin(repository()) as origin:
        assert origin.heads().default == "main"
    assert [call["config"]["HostName"] for call in called()] == ["127.0.0.1", "127.0.0.2"]


def test_a_key_with_a_passphrase(ssh):
    key = ed25519.Ed25519PrivateKey.generate()

    def written(lock) -> str:
        return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, lock).decode()

    with (
        GitOrigin(repository(secret=encrypt(written(BestAvailableEncryption(b"x"))))) as origin,
        pytest.raises(OriginProblem) as problem,
    ):
        origin.heads()
    assert problem.value.state is State.DENIED
    assert "passphrase" in problem.value.message
    with GitOrigin(repository(secret=encrypt(written(NoEncryption())))) as origin:
        assert origin.heads().default == "main"


def test_no_ssh_on_the_machine(ssh, tmp_path, monkeypatch):
    programs = tmp_path / "only-git"
    programs.mkdir()
    (programs / "git").symlink_to(shutil.which("git"))
    monkeypatch.setenv("PATH", str(programs))
    with GitOrigin(repository()) as origin, pytest.raises(OriginProblem) as problem:
        origin.heads()
    assert "ssh" in problem.value.message


@pytest.mark.skipif(shutil.which("ssh") is None, reason="there is no ssh on this machine")
def test_the_real_ssh_understands_what_it_is_told(tmp_path, settings, monkeypatch):
    settings.PRIVATE_URLS_ALLOWED = parse_allowed(["git.example"])
    serving.leading_to(monkeypatch, git_example="127.0.0.1")
    address = "ssh://git@git.example:2222/x"
    folder = tmp_path / "a %d folder"
    folder.mkdir()
    ssh_way(
        address,
        target=ssh_target(address),
        to="127.0.0.1",
        folder=folder,
        secret=KEY,
        host_keys=HOST_KEY,
    )
    shown = subprocess.run(
        ["ssh", "-G", "-F", str(folder / "ssh_config"), "git.example"],
        capture_output=True,
        check=True,
        text=True,
    )
    assert str(folder) not in shown.stderr  # where it would complain about a line
    config = dict(line.split(" ", 1) for line in shown.stdout.splitlines() if " " in line)
    assert config["hostname"] == "127.0.0.1"
    assert config["hostkeyalias"] == "git.example"
    assert config["stricthostkeychecking"] == "true"
    assert config["batchmode"] == "yes"
    assert config["identitiesonly"] == "yes"
    assert "proxycommand" not in config
