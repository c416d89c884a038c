"""Reading JSON bodies: bounded, UTF-8, and nothing in them that a database could choke on."""

import json
import re
from collections.abc import Mapping
from typing import Any, NoReturn

from django.conf import settings
from django.utils.translation import gettext as _
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser

from glossary_site.api.errors import TooLarge

# Half of a surrogate pair can be written in JSON, but it is no text: nothing can store or send it.
SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


class JsonParser(BaseParser):
    media_type = "application/json"

    def parse(
        self,
        stream: Any,
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        # REST framework reads the stream itself, past Django's own limit.
        limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        body = stream.read() if limit is None else stream.read(limit + 1)
        if limit is not None and len(body) > limit:
            raise TooLarge
        try:
            data = json.loads(body.decode("utf-8-sig"), parse_constant=_refuse_constant)
            if SURROGATE.search(body):
                json.dumps(data, ensure_ascii=False).encode()
        except (ValueError, RecursionError) as error:
            reason = _("nested too deeply") if isinstance(error, RecursionError) else error
            raise ParseError(_("The body is not JSON: %(reason)s") % {"reason": reason}) from error
        return data


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")
