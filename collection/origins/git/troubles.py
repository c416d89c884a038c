"""What git says when it fails, in words for people."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from django.conf import settings
from django.utils.functional import Promise
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from collection.choices import State
from collection.origins.data import OriginProblem
from collection.origins.git.children import GitFailed, TookTooLong, WroteTooMuch
from glossary_site.errors import Refusal

MEGABYTE = 1024 * 1024
LAST_WORDS = 200


class TooLarge(Exception):
    """The copy grew beyond the disk that it was given."""


class Trouble(NamedTuple):
    said: re.Pattern[str]
    state: State
    message: str | Promise
    again: bool = False


def _trouble(said: str, state: State, message: str | Promise, *, again: bool = False) -> Trouble:
    return Trouble(re.compile(said, re.IGNORECASE), state, message, again)


# The first that fits is the answer: what is particular stands before what is general.
TROUBLES = (
    _trouble(
        r"host key verification failed|remote host identification has changed",
        State.REFUSED,
        gettext_lazy(
            "The host has another key than when it was first met. If that is right, let the "
            "repository forget the old one; if not, somebody may be in between."
        ),
    ),
    _trouble(
        r"load key .*(invalid format|error in libcrypto|incorrect passphrase)",
        State.DENIED,
        gettext_lazy(
            "The stored key cannot be used. It must be a private key, whole and without a "
            "passphrase."
        ),
    ),
    _trouble(
        r"permission denied \(|too many authentication failures|no supported authentication",
        State.DENIED,
        gettext_lazy(
            "The host does not accept the key. Store the private key of a deploy key that may "
            "read this repository."
        ),
    ),
    _trouble(
        r"terminal prompts disabled|could not read username",
        State.DENIED,
        gettext_lazy(
            "The host asks for a name and a token: the repository is not public, or does not exist."
        ),
    ),
    _trouble(
        r"authentication failed|returned error: 401|invalid username or password",
        State.DENIED,
        gettext_lazy("The host does not accept the stored name and token."),
    ),
    _trouble(
        r"returned error: 403|access denied|not allowed to|forbidden",
        State.DENIED,
        gettext_lazy("The host does not let us read this repository."),
    ),
    _trouble(
        r"returned error: 429|too many requests|rate limit",
        State.UNREACHABLE,
        gettext_lazy("The host wants to be asked less often."),
        again=True,
    ),
    _trouble(
        r"returned error: 5\d\d|internal server error|bad gateway|service unavailable",
        State.UNREACHABLE,
        gettext_lazy("The host has a problem of its own."),
        again=True,
    ),
    _trouble(
        r"returned error: (404|410)|repository .* not found|repository not found"
        r"|project you were looking for could not be found|no such project",
        State.NOT_FOUND,
        gettext_lazy(
            "There is no repository at this address: it was deleted, moved, or is not ours to see."
        ),
    ),
    _trouble(
        r"dubious ownership",
        State.DENIED,
        gettext_lazy(
            "The folder belongs to another user of the machine, and this git is too old to read it "
            "safely. Let it belong to the user of this site, or install a newer git."
        ),
    ),
    _trouble(
        r"couldn't find remote ref",
        State.UNREACHABLE,
        gettext_lazy("A branch disappeared while it was being read."),
        again=True,
    ),
    _trouble(
        r"no space left on device|disk quota exceeded|unable to write file",
        State.UNREACHABLE,
        gettext_lazy("The disk of this site is full."),
        again=True,
    ),
    _trouble(
        r"could not fetch .* from promisor|lazy fetching disabled",
        State.REFUSED,
        gettext_lazy("This is a partial clone: what it lacks is elsewhere. Add the whole one."),
    ),
    _trouble(
        r"certificate|cafile",
        State.UNREACHABLE,
        gettext_lazy("The host’s certificate is not one that this site trusts."),
    ),
    _trouble(
        r"could not resolve host|name or service not known|temporary failure in name resolution",
        State.UNREACHABLE,
        gettext_lazy("The host’s name leads nowhere at the moment."),
        again=True,
    ),
    _trouble(
        r"connection timed out|operation timed out|timed out|operation too slow",
        State.UNREACHABLE,
        gettext_lazy("The host did not answer in time."),
        again=True,
    ),
    _trouble(
        r"failed to connect|couldn't connect|connection refused|no route to host"
        r"|network is unreachable|connect to host",
        State.UNREACHABLE,
        gettext_lazy("The host does not answer."),
        again=True,
    ),
    _trouble(
        r"not a git repository|not valid: is this a git repository|invalid content-type"
        r"|does not appear to be a git repository|protocol error|unable to parse",
        State.NOT_FOUND,
        gettext_lazy("No git repository answers at this address."),
    ),
    _trouble(
        r"repository corruption on the remote side",
        State.REFUSED,
        gettext_lazy("The repository is damaged: not all of it can be read over there."),
    ),
    _trouble(
        r"early eof|hung up unexpectedly|unexpected disconnect|rpc failed|connection (was )?reset"
        r"|connection closed|broken pipe|empty reply|transfer closed|curl \d+|kex_exchange"
        r"|gnutls|ssl_|openssl|tls",
        State.UNREACHABLE,
        gettext_lazy("The connection broke off."),
        again=True,
    ),
    _trouble(
        r"could not read from remote repository",
        State.UNREACHABLE,
        gettext_lazy("The host ended the connection without saying why."),
        again=True,
    ),
)
REDIRECTED = re.compile(r"returned error: 30[12378]")
# A name and password between “//” and “@”, and paths of this machine.
PRIVATE = re.compile(r"(?<=//)[^/@\s]*@|(?<![\w:/])/[^\s:'\"]+")
# Of a copy of ours, in the middle of a fetch into it.
DAMAGED = re.compile(
    r"is corrupt|object file .* is empty|bad object|missing (blob|tree|commit|object)|inflate"
    r"|packfile .* (cannot|does not|is far)|unable to read (sha1 file|tree|[0-9a-f]{40})|bad tree"
    r"|could not read [0-9a-f]{40}|unresolved deltas?|did not send all necessary objects"
    r"|does not point to a valid object|invalid (sha1|object)",
    re.IGNORECASE,
)
ELSEWHERE = re.compile(r"on the remote side|^remote:|no space left", re.IGNORECASE | re.MULTILINE)


def was_redirected(failed: GitFailed) -> bool:
    return REDIRECTED.search(failed.said) is not None


def looks_damaged(failed: GitFailed) -> bool:
    """Did a fetch fail because of our own copy, and not because of the other side?"""
    return DAMAGED.search(failed.said) is not None and not ELSEWHERE.search(failed.said)


def is_no_damage(failed: GitFailed) -> bool:
    """Did reading our own copy fail for a reason that is not in it? Processes can be killed, and
    disks be full."""
    return failed.code < 0 or ELSEWHERE.search(failed.said) is not None


@contextmanager
def in_words() -> Iterator[None]:
    """Whatever goes wrong with a repository over there becomes an `OriginProblem`."""
    try:
        yield
    except GitFailed as failed:
        raise problem_of(failed) from failed
    except TookTooLong:
        raise OriginProblem(
            State.UNREACHABLE, _("It took too long, and was given up."), again=True
        ) from None
    except WroteTooMuch:
        raise OriginProblem(
            State.REFUSED, _("The repository answered with more than anybody can read.")
        ) from None
    except TooLarge:
        raise OriginProblem(
            State.REFUSED,
            _(
                "The repository is larger than the %(size)d MB that this site keeps of one. An "
                "operator can allow more with GLOSSARY_GIT_MAX_MB."
            )
            % {"size": settings.GIT_MAX_BYTES // MEGABYTE},
        ) from None
    except Refusal as refused:
        raise problem_of_refusal(refused) from refused


def problem_of(failed: GitFailed) -> OriginProblem:
    for trouble in TROUBLES:
        if trouble.said.search(failed.said):
            return OriginProblem(trouble.state, str(trouble.message), again=trouble.again)
    said = last_words(failed.said)
    message = (
        _("Git could not read it: %(said)s") % {"said": said}
        if said
        else _("Git could not read it, and did not say why.")
    )
    return OriginProblem(State.UNREACHABLE, message, again=True)


def problem_of_refusal(refused: Refusal) -> OriginProblem:
    state = {
        "host_unknown": State.UNREACHABLE,
        "not_a_repository": State.NOT_FOUND,
        "secret_unreadable": State.DENIED,
    }.get(refused.code, State.REFUSED)
    # Name servers have bad minutes.
    return OriginProblem(state, str(refused), again=refused.code == "host_unknown")


def last_words(said: str) -> str:
    """The line that tells most, without what is nobody's business."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    fatal = [line for line in lines if line.startswith(("fatal:", "error:"))]
    line = (fatal or lines or [""])[-1]
    line = re.sub(r"^(fatal|error): ", "", line)
    # Some of it is what a host said, and may be meant for the terminal that it is shown in.
    plain = "".join(char if char.isprintable() else "�" for char in PRIVATE.sub("…", line))
    return Truncator(plain).chars(LAST_WORDS)
