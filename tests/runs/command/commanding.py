"""`manage.py runpipeline`, as tests call it."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command


def run(*arguments: object, err: StringIO | None = None) -> tuple[str, str]:
    """What it writes to standard output, and to standard error."""
    out, err = StringIO(), err or StringIO()
    call_command("runpipeline", *map(str, arguments), stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def refused(*arguments: object, returncode: int) -> str:
    with pytest.raises(CommandError) as error:
        run(*arguments)
    assert error.value.returncode == returncode, error.value
    return str(error.value)


def entries_in(text: str) -> list[dict]:
    return json.loads(text)["entries"]
