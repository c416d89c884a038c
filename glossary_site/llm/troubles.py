"""What went wrong with a provider, as a sentence that says what to do about it."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from typing import Any

import httpx2
from django.utils.translation import gettext as _

from glossary_site.jobs.payloads import storable
from glossary_site.llm.providers import ProviderConfig
from glossary_site.llm.sdk import openai
from glossary_site.outbound.errors import UrlRefused

SHOWN = 300


def said(error: openai.APIStatusError, config: ProviderConfig) -> str:
    """The server's own words, cut short; a key that it repeats stays out of them."""
    words = words_in(error.body)
    if config.api_key:
        words = words.replace(config.api_key, "…")
    return f"{error.status_code}: {words[:SHOWN]}" if words else str(error.status_code)


def words_in(body: Any) -> str:
    """A text, wherever a server puts it; or a list of fields, and what is wrong with each."""
    if isinstance(body, dict):
        inner = next(filter(None, map(body.get, ("error", "message", "detail", "msg"))), "")
        field = body.get("loc")
        where = ".".join(map(str, field)) if isinstance(field, list) else ""
        return f"{where}: {words_in(inner)}" if where else words_in(inner)
    if isinstance(body, list):
        return "; ".join(filter(None, map(words_in, body)))
    return " ".join(storable(str(body or "")).split())


def reason_in(body: Any) -> str:
    """All by which a server names its reason. For programs: nothing is cut off or left out."""
    inner = body.get("error", body) if isinstance(body, dict) else body
    fields = inner if isinstance(inner, dict) else {}
    named = [*map(fields.get, ("code", "type", "param")), words_in(body)]
    return " ".join(map(str, filter(None, named)))


def explain(error: openai.APIError, config: ProviderConfig) -> str:
    if isinstance(error, openai.APIStatusError):
        return _explain_status(error, config)
    host = httpx2.URL(config.base_url).host
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, UrlRefused):
            return str(cause)
        if isinstance(cause, ssl.SSLCertVerificationError):
            return _(
                "The certificate of “%(host)s” is not trusted (%(reason)s). Renew it, or let this "
                "machine trust who signed it."
            ) % {"host": host, "reason": cause.verify_message}
        if isinstance(cause, ssl.SSLError) or "handshake" in str(cause):
            return _(
                "“%(host)s” does not speak TLS at this port. Is the address http:// and not https://?"
            ) % {"host": host}
        if isinstance(cause, ConnectionRefusedError):
            return _(
                "“%(host)s” refuses the connection: nothing listens at this port. Is the server "
                "running, and is the port right?"
            ) % {"host": host}
        if isinstance(cause, socket.gaierror):
            return _("No address was found for “%(host)s”. Check the spelling.") % {"host": host}
        if isinstance(cause, httpx2.ConnectTimeout):
            return _(
                "“%(host)s” does not answer. Is the server running, and does a firewall let this "
                "machine reach it?"
            ) % {"host": host}
    if isinstance(error, openai.APITimeoutError):
        return _(
            "“%(host)s” took the request, but gave no answer within %(seconds)s seconds. Is the "
            "model still loading, or too large for the machine?"
        ) % {"host": host, "seconds": config.timeout}
    reason = next((str(cause) for cause in reversed(causes) if str(cause)), "")
    return _("The connection to “%(host)s” broke (%(reason)s).") % {"host": host, "reason": reason}


def _explain_status(error: openai.APIStatusError, config: ProviderConfig) -> str:
    reason = said(error, config)
    if error.status_code < 400:
        where = error.response.headers.get("Location", "?")[:SHOWN]
        return _(
            "The server sends us to %(where)s. Redirects are not followed: use that address, if "
            "it is the right one."
        ) % {"where": where}
    if error.status_code == 429:
        return _(
            "The server takes no more requests now (%(reason)s). Wait, or look at the limits and "
            "the credit of the account."
        ) % {"reason": reason}
    if error.status_code >= 500:
        return _("The server has a problem of its own (%(reason)s).") % {"reason": reason}
    return _("The server refuses the request (%(reason)s).") % {"reason": reason}


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__ or seen.__context__


def hopeless(requests: int, why: str) -> str:
    words = _("The provider failed %(n)s requests in a row, the rest was not sent: %(why)s")
    return words % {"n": requests, "why": why}


def refused_batch(why: str) -> str:
    return _("The provider refused the batch: %(why)s") % {"why": why}


def absent(why: str) -> str:
    return _("The provider did not answer, however often it was asked: %(why)s") % {"why": why}
