"""What can be wrong over there, in sentences for people.

None of them repeats what the server said: it may say back the token that it was sent.
"""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from collection.choices import State
from collection.origins.data import OriginProblem


def unreachable(host: str) -> OriginProblem:
    return OriginProblem(
        State.UNREACHABLE,
        _("“%(host)s” could not be reached.") % {"host": host},
        again=True,
    )


def too_slow(host: str) -> OriginProblem:
    return OriginProblem(
        State.UNREACHABLE,
        _("“%(host)s” did not answer in time.") % {"host": host},
        again=True,
    )


def bad_certificate(host: str) -> OriginProblem:
    return OriginProblem(
        State.UNREACHABLE,
        _(
            "The certificate of “%(host)s” could not be verified: it has expired, is for another "
            "name, or comes from an authority that this machine does not know."
        )
        % {"host": host},
    )


def broken(host: str, status: int) -> OriginProblem:
    return OriginProblem(
        State.UNREACHABLE,
        _("“%(host)s” has trouble of its own (HTTP %(status)d).")
        % {"host": host, "status": status},
        again=True,
    )


def busy(host: str, seconds: float) -> OriginProblem:
    minutes = max(1, round(seconds / 60))
    return OriginProblem(
        State.UNREACHABLE,
        ngettext(
            "“%(host)s” takes no more requests for now. It asks to come back in %(minutes)d "
            "minute.",
            "“%(host)s” takes no more requests for now. It asks to come back in %(minutes)d "
            "minutes.",
            minutes,
        )
        % {"host": host, "minutes": minutes},
        again=True,
        retry_after=seconds,
    )


def unauthorized(host: str, *, token: bool) -> OriginProblem:
    if token:
        text = _("“%(host)s” does not accept the stored token. It may have expired.")
    else:
        text = _("“%(host)s” wants to know who asks: store a token that may read the repository.")
    return OriginProblem(State.DENIED, text % {"host": host})


def forbidden(host: str, right: str, *, token: bool) -> OriginProblem:
    if token:
        text = _(
            "“%(host)s” says that the stored token may not read this repository. It needs the "
            "right “%(right)s”."
        )
    else:
        text = _(
            "“%(host)s” does not let everybody read this repository: store a token with the right "
            "“%(right)s”."
        )
    return OriginProblem(State.DENIED, text % {"host": host, "right": right})


def not_found(host: str, project: str, *, token: bool) -> OriginProblem:
    if token:
        text = _(
            "“%(host)s” has no repository “%(project)s”, or the stored token may not see it. "
            "Check the spelling, and what the token is for."
        )
    else:
        text = _(
            "“%(host)s” has no repository “%(project)s” that everybody may see. Check the "
            "spelling; if it is private, store a token."
        )
    return OriginProblem(State.NOT_FOUND, text % {"host": host, "project": project})


def no_code(host: str, project: str) -> OriginProblem:
    return OriginProblem(
        State.DENIED,
        _("The project “%(project)s” is there, but “%(host)s” does not show its code.")
        % {"host": host, "project": project},
    )


def commit_gone(host: str) -> OriginProblem:
    return OriginProblem(
        State.READY,
        _("A commit that “%(host)s” has just named is no longer there: somebody is rewriting it.")
        % {"host": host},
        again=True,
    )


def legally_blocked(host: str) -> OriginProblem:
    return OriginProblem(
        State.DENIED,
        _("“%(host)s” withholds this repository for legal reasons.") % {"host": host},
    )


def moved_away(host: str, place: str) -> OriginProblem:
    return OriginProblem(
        State.REFUSED,
        _(
            "“%(host)s” sends us to %(place)s. That is not followed: if it is right, change the "
            "address of the repository."
        )
        % {"host": host, "place": place},
    )


def unexpected(host: str, status: int) -> OriginProblem:
    return OriginProblem(
        State.REFUSED,
        _("“%(host)s” refused what it was asked for (HTTP %(status)d).")
        % {"host": host, "status": status},
    )


def not_understood(host: str) -> OriginProblem:
    return OriginProblem(
        State.REFUSED,
        _("“%(host)s” answers in a way that is not understood. Is the kind of address right?")
        % {"host": host},
    )


def too_large(host: str) -> OriginProblem:
    return OriginProblem(
        State.REFUSED,
        _("An answer of “%(host)s” is too large to be read.") % {"host": host},
    )


def too_many(host: str, limit: int) -> OriginProblem:
    return OriginProblem(
        State.REFUSED,
        _(
            "This is too much for the API of “%(host)s”: there are more than %(limit)d rows. "
            "Add the repository by its git address instead."
        )
        % {"host": host, "limit": limit},
    )


def bad_token() -> OriginProblem:
    return OriginProblem(
        State.DENIED,
        _("The stored token has characters that no token has. Type it in again."),
    )


def token_needed(host: str) -> OriginProblem:
    return OriginProblem(
        State.DENIED,
        _(
            "Without a token “%(host)s” answers too few requests an hour for the line counts of "
            "so many commits. Store a token, or add the repository by its git address, which "
            "needs none."
        )
        % {"host": host},
    )
