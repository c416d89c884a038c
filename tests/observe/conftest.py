import io
import json
import logging

import pytest

from glossary_site.observe.logs import JsonLines


@pytest.fixture
def lines():
    """What has been logged since, as programs read it."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    requests = logging.getLogger("glossary_site.requests")
    level = requests.level
    root.addHandler(handler)
    requests.setLevel(logging.INFO)
    yield lambda: [json.loads(line) for line in written.getvalue().splitlines()]
    requests.setLevel(level)
    root.removeHandler(handler)
