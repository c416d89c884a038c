"""Reading the glossary, and editing it together."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_keyboard import wait_until_keys_work
from tests.browser.test_pages import audit, beyond_the_edge
from tests.browser.visiting import PASSWORD, LiveSite, SharedProject, sign_in, wait_until_live

LINES = "# Lines\n\n## Mooring\n\nA mooring line holds the vessel.\n"
PUBLISH = """
from projects.access import OPERATOR
from projects.models import Project
from projects.services.glossary import EntryData, publish_entries
from projects.terms.keys import key_of
from projects.terms.readings import reading_of
project = Project.objects.get(pk=project_id)
document = project.documents.get()
evidence = [{"document_id": document.pk, "path": document.path, "file_hash": document.file_hash,
             "line_start": 5, "line_end": 5, "heading_path": ["Lines", "Mooring"],
             "quote": "A mooring line holds the vessel."}]
publish_entries(project=project, run_id=None, actor=OPERATOR, entries=[
    EntryData(term=term, key=key_of(term), reading=reading_of(term),
              language="en" if term.isascii() else "ja", definition=definition,
              evidence=evidence, related=["pilot"], needs_review=True)
    for term, definition in entries.items()
])
"""
ENTRIES = {
    "mooring line": "A rope that holds the vessel.",
    "pilot": "A mariner who guides vessels.",
    "係留索": "船をつなぎとめる綱。",
}


def publish(site: LiveSite, project: SharedProject, entries: dict[str, str]) -> None:
    site.site.ask(f"project_id, entries = {project.id}, {entries!r}\n{PUBLISH}")


@pytest.fixture
def glossary(site: LiveSite, project: SharedProject) -> str:
    project.add("lines.md", LINES)
    publish(site, project, ENTRIES)
    return f"{project.url}glossary/"


def rows(page: Page):
    return page.locator("#results [data-row-link]")


def definition(page: Page):
    return page.locator(".definition")


def test_from_the_index_to_the_lines_it_rests_on(visit, olive, project, glossary):
    page = visit(olive)
    press = page.keyboard.press
    page.goto(project.url)
    wait_until_keys_work(page)
    press("g")
    press("g")
    expect(rows(page)).to_have_text(list(ENTRIES))
    page.get_by_role("navigation", name="Index").get_by_role("link", name="か").click()
    expect(rows(page)).to_have_text(["係留索"])
    wait_until_keys_work(page)
    # Whoever searches means the whole glossary.
    press("/")
    page.keyboard.type("rope")
    expect(rows(page)).to_have_text(["mooring line"])
    press("ArrowDown")
    press("Enter")
    expect(definition(page)).to_have_text(ENTRIES["mooring line"])
    page.get_by_role("link", name="lines.md · line 5").click()
    expect(page).to_have_url(re.compile(r"\?lines=5&hash=\w+#L5$"))
    expect(page.locator(".passage")).to_be_in_viewport()


def test_an_edit_is_locked_shown_and_undone(visit, olive, glossary):
    page = visit(olive)
    page.goto(f"{glossary}?letter=P")
    rows(page).click()
    wait_until_keys_work(page)
    page.keyboard.press("e")
    page.get_by_label("Definition").fill("A mariner who steers vessels.")
    # A box shows all that is in it.
    aliases = page.get_by_label("Aliases")
    aliases.fill("\n".join(f"guide {n}" for n in range(8)))
    assert aliases.evaluate("box => box.scrollHeight <= box.clientHeight")
    aliases.fill("")
    page.get_by_role("button", name="Save").click()
    expect(definition(page)).to_have_text("A mariner who steers vessels.")
    expect(page.get_by_role("button", name="Unlock Definition")).to_be_visible()
    expect(page.locator(".revision del").first).to_have_text("guides")
    expect(page.get_by_text("needs review")).to_have_count(0)
    page.get_by_role("button", name="Undo revision 2").click()
    expect(definition(page)).to_have_text(ENTRIES["pilot"])
    expect(page.get_by_role("button", name="Unlock Definition")).to_have_count(0)


def test_what_was_written_outlives_the_session_and_a_wrong_click(visit, olive, glossary):
    page = visit(olive)
    page.goto(f"{glossary}?letter=P")
    rows(page).click()
    page.get_by_role("link", name="Edit").click()
    page.get_by_label("Definition").fill("A mariner who steers vessels.")
    asked: list[str] = []
    page.once("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    page.get_by_role("link", name="Terms").click(no_wait_after=True)
    page.wait_for_timeout(300)
    assert asked == ["beforeunload"]

    page.context.clear_cookies(name=re.compile("session"))
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("You were signed out, so nothing was done.")).to_be_visible()
    sign_in(page, olive.name, PASSWORD)
    expect(page.get_by_label("Definition")).to_have_value("A mariner who steers vessels.")
    page.get_by_role("button", name="Save").click()
    expect(definition(page)).to_have_text("A mariner who steers vessels.")
    page.get_by_role("link", name="Edit").click()
    page.get_by_label("Definition").fill("A mariner who steers.")
    page.get_by_role("button", name="Save").click()
    expect(definition(page)).to_have_text("A mariner who steers.")


def test_two_who_edit_at_once_lose_nothing(visit, trouble, olive, vera, project, glossary):
    trouble.expect("status of 409")
    project.invite(vera, "editor")
    first, second = visit(olive), visit(vera)
    first.goto(f"{glossary}?letter=P")
    rows(first).click()
    address = first.url
    for window in (first, second):
        window.goto(f"{address}edit/")
    second.get_by_label("Definition").fill("A sailor who guides vessels.")
    second.get_by_role("button", name="Save").click()
    expect(definition(second)).to_have_text("A sailor who guides vessels.")
    first.get_by_label("Definition").fill("A mariner who guides ships.")
    first.get_by_role("button", name="Save").click()
    conflict = first.get_by_role("alert", name="vera has changed this entry while you were writing")
    expect(conflict).to_contain_text("A sailor who guides vessels.")
    expect(first.get_by_label("Definition")).to_have_value("A mariner who guides ships.")
    wait_until_live(second)
    first.get_by_label("Definition").fill("A sailor who guides ships.")
    first.get_by_role("button", name="Save mine").click()
    expect(definition(first)).to_have_text("A sailor who guides ships.")
    # The page that stayed open learns of it.
    expect(definition(second)).to_have_text("A sailor who guides ships.")


def test_what_a_run_publishes_appears_by_itself(visit, site, olive, project, glossary):
    page = visit(olive)
    page.goto(glossary)
    wait_until_live(page)
    publish(site, project, {"anchor": "Iron that holds."})
    expect(rows(page)).to_have_text(["anchor", *ENTRIES])
    with page.expect_download() as download:
        page.locator("summary", has_text="Export").click()
        page.get_by_role("link", name="Markdown").click()
    assert "### anchor" in download.value.path().read_text()


def test_the_first_entries_bring_the_search_and_the_exports(visit, site, olive, project):
    project.add("lines.md", LINES)
    page = visit(olive)
    page.goto(f"{project.url}glossary/")
    expect(page.get_by_text("The glossary is empty")).to_be_visible()
    find, export = page.get_by_role("searchbox"), page.locator("summary", has_text="Export")
    expect(find).to_be_hidden()
    expect(export).to_be_hidden()
    wait_until_live(page)
    publish(site, project, ENTRIES)
    expect(rows(page)).to_have_text(list(ENTRIES))
    expect(export).to_be_visible()
    find.fill("rope")
    expect(rows(page)).to_have_text(["mooring line"])


def test_a_deleted_entry_comes_back(visit, olive, glossary):
    page = visit(olive, java_script_enabled=False)
    page.goto(f"{glossary}?letter=P")
    rows(page).click()
    page.locator("summary", has_text="Delete").click()
    page.get_by_role("button", name="Delete the entry").click()
    page.get_by_role("link", name="The history brings it back.").click()
    page.get_by_role("button", name="Bring back").click()
    expect(definition(page)).to_have_text(ENTRIES["pilot"])


def test_the_pages_fit_a_telephone_and_name_their_parts(visit, olive, glossary):
    page = visit(olive, viewport={"width": 375, "height": 812})
    page.goto(glossary)
    one = rows(page).first.get_attribute("href")
    wrong = {}
    for address in (glossary, one, f"{one}edit/", f"{glossary}add/", f"{glossary}history/"):
        page.goto(address)
        found = audit(page) + (["scrolls sideways"] if beyond_the_edge(page) else [])
        if found:
            wrong[address] = found
    assert wrong == {}
