"""What git says, in words for people."""

import pytest

from collection.choices import State
from collection.origins.git.children import GitFailed
from collection.origins.git.troubles import (
    is_no_damage,
    looks_damaged,
    problem_of,
    was_redirected,
)

CHANGED = """@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
Host key verification failed.
fatal: Could not read from remote repository.
"""


@pytest.mark.parametrize(
    ("said", "state", "again"),
    [
        (CHANGED, State.REFUSED, False),
        ("git@h: Permission denied (publickey).\nfatal: Could not read from remote repository.",
         State.DENIED, False),
        ("fatal: could not read Username for 'https://h': terminal prompts disabled",
         State.DENIED, False),
        ("remote: Invalid username or password.\nfatal: Authentication failed for 'https://h/x/'",
         State.DENIED, False),
        ("fatal: unable to access 'https://h/x/': The requested URL returned error: 403",
         State.DENIED, False),
        ("fatal: unable to access 'https://h/x/': The requested URL returned error: 429",
         State.UNREACHABLE, True),
        ("fatal: unable to access 'https://h/x/': The requested URL returned error: 502",
         State.UNREACHABLE, True),
        ("remote: Not Found\nfatal: repository 'https://h/x/' not found", State.NOT_FOUND, False),
        ("ERROR: Repository not found.\nfatal: Could not read from remote repository.",
         State.NOT_FOUND, False),
        ("remote: The project you were looking for could not be found or you don't have "
         "permission to view it.", State.NOT_FOUND, False),
        ("fatal: detected dubious ownership in repository at '/srv/x'", State.DENIED, False),
        ("fatal: couldn't find remote ref refs/heads/x", State.UNREACHABLE, True),
        ("error: unable to write file objects/x: No space left on device",
         State.UNREACHABLE, True),
        ("fatal: unable to access 'https://h/': server certificate verification failed. CAfile: "
         "none", State.UNREACHABLE, False),
        ("fatal: unable to access 'https://h/': SSL certificate problem: self-signed certificate",
         State.UNREACHABLE, False),
        ("fatal: unable to access 'https://h/': Could not resolve host: h",
         State.UNREACHABLE, True),
        ("fatal: unable to access 'https://h/': Failed to connect to h port 443 after 1 ms",
         State.UNREACHABLE, True),
        ("ssh: connect to host h port 22: Connection timed out", State.UNREACHABLE, True),
        ("error: RPC failed; curl 18 transfer closed with outstanding read data remaining",
         State.UNREACHABLE, True),
        ("fatal: the remote end hung up unexpectedly\nfatal: early EOF", State.UNREACHABLE, True),
        (
            "remote: aborting due to possible repository corruption on the remote side.\n"
            "fatal: early EOF",
            State.REFUSED,
            False,
        ),
        ("fatal: unable to access 'https://h/': Operation too slow. Less than 100 bytes/sec",
         State.UNREACHABLE, True),
        ("fatal: https://h/x/info/refs not valid: is this a git repository?",
         State.NOT_FOUND, False),
        ("fatal: '/srv/x' does not appear to be a git repository", State.NOT_FOUND, False),
        ("fatal: Could not read from remote repository.", State.UNREACHABLE, True),
        ("", State.UNREACHABLE, True),
    ],
)  # fmt: skip
def test_a_state_and_a_sentence(said, state, again):
    problem = problem_of(GitFailed(128, said))
    assert (problem.state, problem.again) == (state, again)
    assert problem.message.endswith(".")
    assert "/srv" not in problem.message


def test_what_nobody_has_foreseen_is_told_without_secrets_and_paths():
    said = (
        "warning: something\n"
        "fatal: odd thing at /var/lib/site/git/1.git/x and https://me:pass@h.example/y, so there\n"
        "hint: do this\n"
    )
    message = problem_of(GitFailed(128, said)).message
    assert message == "Git could not read it: odd thing at … and https://…h.example/y, so there"
    assert len(problem_of(GitFailed(1, "fatal: " + "x" * 5000)).message) < 300
    # Nothing of a host's words does anything in the terminal that shows them.
    assert problem_of(GitFailed(1, "fatal: remote error: \x1b]0;x\a\0")).message.endswith("�]0;x��")


def test_redirects_and_damage_are_recognised():
    at = "fatal: unable to access 'https://h/x/': The requested URL returned error: "
    assert was_redirected(GitFailed(128, at + "301"))
    assert not was_redirected(GitFailed(128, at + "404"))
    assert looks_damaged(GitFailed(128, "fatal: loose object 12 (stored in x) is corrupt"))


@pytest.mark.parametrize(
    "said",
    [
        "fatal: unable to access 'https://h/x/': The requested URL returned error: 500",
        "fatal: Could not resolve host: h",
        "fatal: Could not read from remote repository.",
        "fatal: could not read Username for 'https://h': terminal prompts disabled",
        "fatal: '/x' does not appear to be a git repository",
        "fatal: early EOF\nfatal: fetch-pack: invalid index-pack output",
        "fatal: bad object 12\nerror: aborting due to possible repository corruption on the remote "
        "side.",
        "remote: error: object file x is empty",
        "error: unable to write: No space left on device\nfatal: missing object 12",
    ],
)
def test_a_copy_is_not_thrown_away_for_the_fault_of_others(said):
    assert not looks_damaged(GitFailed(128, said))


def test_reading_a_copy_fails_for_its_own_fault_unless_it_is_told_otherwise():
    assert not is_no_damage(GitFailed(128, "fatal: not a git repository"))
    assert is_no_damage(GitFailed(-9, ""))
    assert is_no_damage(GitFailed(128, "fatal: x: No space left on device"))
