"""Lists of the admin that stay true while they are looked at."""

import pytest
from playwright.sync_api import expect

from tests.browser.visiting import LiveSite, Person

MAKE_SUPERUSER = """
from glossary_site.people.models import User
User.objects.filter(username="stan").update(is_staff=True, is_superuser=True)
"""


@pytest.fixture(scope="module")
def stan(site: LiveSite) -> Person:
    site.welcome("stan")
    site.site.ask(MAKE_SUPERUSER)
    return site.people["stan"]


def test_the_state_of_the_index_beside_a_document_changes_by_itself(site, visit, stan, project):
    address = project.add("tides.md", "# Tides\n\nSlack water lasts a quarter of an hour.\n")
    page = visit(stan)
    page.goto(f"/admin/projects/document/?project__id__exact={project.id}")
    page.evaluate("window.untouched = true")
    state = page.locator("#result_list [data-live]")
    expect(state).to_have_text("latest")
    number = address.rstrip("/").rpartition("/")[2]
    site.site.ask(
        "from indexing.models import IndexedDocument\n"
        f"IndexedDocument.objects.filter(pk={number}).update(document_hash='0' * 64)"
    )
    expect(state).to_have_text("outdated")
    assert page.evaluate("window.untouched")
