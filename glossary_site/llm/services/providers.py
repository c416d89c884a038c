"""Every write about providers: chosen, changed, taken back."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qsl, urlencode

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from glossary_site.errors import Refusal
from glossary_site.jobs.services.audit import SITE, record
from glossary_site.live.services import publish
from glossary_site.llm.choices import ProviderKind, Strategy
from glossary_site.llm.models import Provider
from glossary_site.outbound.errors import UrlRefused
from glossary_site.outbound.guard import check_url
from glossary_site.people.models import User
from glossary_site.secrets import encrypt

KEY_LENGTH = 1000
# A query is shown and logged with the address: no place for a secret.
SECRET_NAMES = ("key", "token", "secret", "password", "sig", "code")


@dataclass(frozen=True)
class Wish:
    """What a provider should be. The key is apart: it is written and never read."""

    kind: ProviderKind
    base_url: str = ""
    query: str = ""
    model: str = ""
    bulk_strategy: Strategy = Strategy.SYNC
    concurrency: int = 8
    request_timeout: int = 120
    input_price: Decimal | None = None
    output_price: Decimal | None = None
    context_tokens: int | None = None
    output_tokens: int | None = None
    enabled: bool = True


class InvalidSetting(Refusal):
    """A setting that cannot be, and which one it is."""

    def __init__(self, field: str, message: Any, *, code: str = "invalid") -> None:
        super().__init__(code, message, status=400, fields={field: [str(message)]})
        self.field = field


FACTS = tuple(Wish.__dataclass_fields__)


def save_provider(
    *,
    scope: str,
    wish: Wish,
    actor: User | None,
    key: str = "",
    clear_key: bool = False,
    version: int | None = None,
) -> Provider:
    """Give a scope its provider, or change the one it has.

    A blank key keeps the stored one. Another base URL drops it, unless a new one comes along: a key
    never goes to a host it was not given for. `version` is the one the person saw (0: none); when
    somebody else was faster, nothing is written.
    """
    wish = checked(wish)
    key = checked_key(key)
    try:
        with transaction.atomic():
            row = Provider.objects.select_for_update().filter(scope=scope).first()
            if version is not None and version != (row.version if row else 0):
                raise _changed_meanwhile()
            before = facts_of(row)
            row = row or Provider(scope=scope, version=0)
            row.encrypted_key = _key_after(row, wish, key=key, clear_key=clear_key)
            for name in FACTS:
                setattr(row, name, getattr(wish, name))
            _refuse_impossible(row)
            after = facts_of(row, new_key=bool(key))
            if before == after:
                return row
            row.version += 1
            row.save()
            _tell(row, actor, before, after)
    except IntegrityError as error:
        # Two people gave the scope its first provider at once.
        raise _changed_meanwhile() from error
    return row


@transaction.atomic
def clear_provider(*, scope: str, actor: User | None) -> bool:
    """Take the scope's own provider away, key and all; the site's answers from now on."""
    row = Provider.objects.select_for_update().filter(scope=scope).first()
    if row is None:
        return False
    _tell(row, actor, facts_of(row), {})
    row.delete()
    return True


def checked(wish: Wish) -> Wish:
    """The wish in its one spelling, or what is wrong with it. It may ask a name server, so it is
    no work for inside a transaction."""
    values = {name: getattr(wish, name) for name in FACTS}
    if wish.kind == ProviderKind.BUILTIN:
        return Wish(**{**values, "base_url": "", "query": "", "model": ""})
    if not wish.base_url.strip():
        raise InvalidSetting("base_url", _("A server needs its address."))
    if not wish.model.strip():
        raise InvalidSetting("model", _("A server needs the name of a model."))
    try:
        url = check_url(wish.base_url).url
    except UrlRefused as refused:
        raise InvalidSetting("base_url", str(refused), code=refused.code) from refused
    # People copy Azure's addresses with the query behind them.
    query = checked_query(wish.query or url.query)
    base_url = url.origin + url.path.rstrip("/")
    model = wish.model.strip()
    return Wish(**{**values, "base_url": base_url, "query": query, "model": model})


def checked_query(text: str) -> str:
    text = text.strip().removeprefix("?")
    if not text:
        return ""
    try:
        pairs = parse_qsl(text, strict_parsing=True)
    except ValueError:
        raise InvalidSetting(
            "query", _("Write the query as in an address: name=value, joined with “&”.")
        ) from None
    if any(word in name.lower() for name, _value in pairs for word in SECRET_NAMES):
        raise InvalidSetting("query", _("A key does not belong here, but in the field of the key."))
    return urlencode(pairs)


def checked_key(key: str) -> str:
    key = key.strip()
    if len(key) > KEY_LENGTH or not (key.isascii() and key.isprintable()) or " " in key:
        raise InvalidSetting("api_key", _("This is not a key: it has spaces or odd characters."))
    return key


def facts_of(row: Provider | None, *, new_key: bool = False) -> dict[str, Any]:
    """What may be told of a provider: everything but its key."""
    if row is None:
        return {}
    key = "new" if new_key else "stored" if row.encrypted_key else "none"
    facts = {name: getattr(row, name) for name in FACTS}
    return {name: _plain(value) for name, value in facts.items()} | {"key": key}


def _plain(value: Any) -> Any:
    # 0.5 and 0.500000 are one price, and JSON has no decimals.
    return format(value.normalize(), "f") if isinstance(value, Decimal) else value


def _key_after(row: Provider, wish: Wish, *, key: str, clear_key: bool) -> str:
    if wish.kind == ProviderKind.BUILTIN:
        return ""
    if key:
        return encrypt(key)
    keeps = not clear_key and row.base_url == wish.base_url
    return row.encrypted_key if keeps else ""


def _refuse_impossible(row: Provider) -> None:
    try:
        row.full_clean(validate_unique=False)
    except ValidationError as error:
        field, messages = next(iter(error.message_dict.items()))
        raise InvalidSetting(field, messages[0]) from error


def _changed_meanwhile() -> Refusal:
    return Refusal(
        "settings_changed",
        _("Somebody else changed these settings meanwhile. Look at them before you save yours."),
    )


def _tell(row: Provider, actor: User | None, before: dict[str, Any], after: dict[str, Any]) -> None:
    action = "delete" if not after else "change" if before else "create"
    changed = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
    record(
        actor or SITE,
        action,
        row,
        before={name: before[name] for name in changed if name in before},
        after={name: after[name] for name in changed if name in after},
    )
    publish(row.scope, "llm.settings_changed", {"changed": changed, "by": str(actor or "")})
