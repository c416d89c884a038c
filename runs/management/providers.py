"""Which provider a command asks for instead of the one that is set. Its key is never an argument:
those can be seen by everybody on the machine."""

from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from glossary_site.errors import Refusal
from glossary_site.llm.choices import ProviderKind, Strategy
from glossary_site.llm.providers import Origin, ProviderConfig
from glossary_site.llm.services.providers import checked_query
from glossary_site.outbound.guard import WEB
from glossary_site.outbound.urls import parse_url


def chosen_provider(
    *, kind: str | None, model: str | None, base_url: str | None
) -> ProviderConfig | None:
    """None: as it is set. A server that is named without a kind is an OpenAI-compatible one."""
    if kind is None and model is None and base_url is None:
        return None
    if kind == ProviderKind.BUILTIN:
        if model or base_url:
            raise _refused(_("The built-in engine has neither a model nor an address."))
        return ProviderConfig(origin=Origin.DEFAULT)
    set_up = settings.LLM
    address = base_url or set_up["base_url"]
    name = model or set_up["model"]
    if not address:
        raise _refused(
            _("Name the server with --base-url (such as %(example)s), or with %(name)s.")
            % {"example": "https://api.openai.com/v1", "name": "GLOSSARY_LLM_BASE_URL"}
        )
    if not name:
        raise _refused(
            _("Name the model with --model, or with %(name)s.") % {"name": "GLOSSARY_LLM_MODEL"}
        )
    url = parse_url(address, schemes=WEB)
    return ProviderConfig(
        # Whoever starts commands here may name any host of its network.
        origin=Origin.ENVIRONMENT,
        kind=ProviderKind.OPENAI,
        base_url=url.origin + url.path.rstrip("/"),
        query=checked_query(url.query) if base_url else set_up["query"],
        model=name,
        api_key=set_up["api_key"],
        # The command waits for the answers: they come one by one.
        strategy=Strategy.SYNC,
        concurrency=set_up["concurrency"],
        timeout=set_up["timeout"],
        **_of_model(set_up, known=not base_url and name == set_up["model"]),
    )


def _of_model(set_up: dict[str, Any], *, known: bool) -> dict[str, Any]:
    """Prices and limits are one model's: nothing is known of another's."""
    names = ("input_price", "output_price", "context_tokens", "output_tokens")
    return {name: set_up[name] for name in names} if known else {}


def _refused(sentence: str) -> Refusal:
    return Refusal("bad_provider", sentence, status=400)
