"""Where a repository went: the address that the host names when it is asked at the old one."""

from urllib.parse import urljoin, urlsplit

import httpx2
from django.utils.translation import gettext as _

from collection.choices import State
from collection.origins.data import OriginProblem
from collection.origins.git.addresses import clean_remote
from glossary_site.outbound.transport import guarded_client

ASKED = "/info/refs"
SERVICE = "?service=git-upload-pack"
SECONDS = 10.0


def moved_to(address: str, *, has_secret: bool) -> str:
    """The new address, looked at as if a person had typed it. A secret is for the host that it
    was given for, and goes to no other."""
    try:
        with (
            guarded_client(address, timeout=httpx2.Timeout(SECONDS)) as client,
            # Its head is enough: what comes behind it may have no end.
            client.stream("GET", address + ASKED + SERVICE) as answer,
        ):
            pass
    except httpx2.InvalidURL as error:
        raise _nowhere() from error
    except httpx2.HTTPError as error:
        raise OriginProblem(
            State.UNREACHABLE, _("The host does not answer."), again=True
        ) from error
    new = urljoin(address + ASKED, answer.headers.get("Location", ""))
    new, asked, _query = new.partition(ASKED)
    if not answer.is_redirect or not asked:
        raise _nowhere()
    new = clean_remote(new)
    old_host, new_host = urlsplit(address).hostname, urlsplit(new).hostname
    weaker = address.startswith("https:") and not new.startswith("https:")
    if has_secret and (old_host != new_host or weaker):
        raise OriginProblem(
            State.REFUSED,
            _(
                "The repository has moved to %(address)s. The stored token is not sent there: "
                "change the address and type the token in again."
            )
            % {"address": new},
        )
    return new


def _nowhere() -> OriginProblem:
    return OriginProblem(
        State.REFUSED, _("The host sends us elsewhere, to where no git repository is.")
    )
