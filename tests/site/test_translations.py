import re

import pytest

from tests import catalogues

PLACEHOLDER = re.compile(r"%\(\w+\)[sd]")


@pytest.mark.parametrize("language", catalogues.LANGUAGES)
def test_every_text_is_in_the_catalogue(language):
    assert catalogues.missing(language) == []


def test_the_collector_sees_code_and_templates():
    texts = {message.id for message in catalogues.collect() if isinstance(message.id, str)}
    assert "Viewer" in texts  # projects/choices.py
    assert "Sign in" in texts  # templates


@pytest.mark.parametrize("language", catalogues.LANGUAGES)
def test_translations_keep_the_placeholders(language):
    """A lost `%(name)s` shows a gap, an invented one is a server error."""
    for message in catalogues.load(language):
        ids = message.id if message.pluralizable else (message.id,)
        strings = message.string if message.pluralizable else (message.string,)
        allowed = set().union(*(PLACEHOLDER.findall(text) for text in ids))
        needed = set(PLACEHOLDER.findall(ids[-1]))
        for text in strings:
            found = set(PLACEHOLDER.findall(text))
            assert found <= allowed, text
            if len(strings) == 1:
                assert found == needed, text
