"""Going through a list of terms by keys alone, in bulk, live, on a telephone, without scripts."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_keyboard import wait_until_keys_work
from tests.browser.test_pages import audit, beyond_the_edge
from tests.browser.visiting import LiveSite, SharedProject, wait_until_live

LINES = "# Lines\n\nA *mooring line* holds the vessel.\n\nThe pilot waits.\n"
EXTRACT = """
from projects.models import Project
from projects.services.terms import Found, take_extraction
from projects.terms.keys import key_of
project = Project.objects.get(pk=project_id)
places = [(pk, line, 1) for pk in project.documents.values_list("pk", flat=True) for line in (3, 5)]
take_extraction(project=project, found=[
    Found(text=text, key=key_of(text), reading=text, language="en", score=float(100 - n),
          frequency=2, document_count=1, variants=[text], occurrences=places)
    for n, text in enumerate(texts)
])
"""
TEXTS = ["mooring line", "pilot", "berth", "tide", "crane", "buoy"]


def extract(site: LiveSite, project: SharedProject, texts: list[str]) -> None:
    site.site.ask(f"project_id, texts = {project.id}, {texts!r}\n{EXTRACT}")


@pytest.fixture
def terms(site: LiveSite, project: SharedProject) -> str:
    project.add("lines.md", LINES)
    extract(site, project, TEXTS)
    return f"{project.url}terms/"


def rows(page: Page):
    return page.locator("#results [data-row-link]")


def said(page: Page):
    return page.locator("#messages")


def test_from_the_list_to_the_marked_line_by_keys(visit, olive, project, terms):
    page = visit(olive)
    press = page.keyboard.press
    page.goto(project.url)
    wait_until_keys_work(page)
    press("g")
    press("t")
    expect(rows(page)).to_have_text(TEXTS)
    wait_until_keys_work(page)

    for key in ("j", "j"):
        press(key)
    press("e")
    expect(said(page)).to_contain_text("“pilot” is excluded.")
    expect(rows(page)).to_have_text([text for text in TEXTS if text != "pilot"])
    # The next row is where one goes on.
    expect(page.get_by_role("link", name="berth")).to_be_focused()
    press("z")
    expect(said(page)).to_contain_text("1 term is as it was.")
    expect(rows(page)).to_have_text(TEXTS)

    page.get_by_role("link", name="berth").focus()
    for key in ("x", "j", "x"):
        press(key)
    expect(page.locator("[data-chosen-count]")).to_have_text("2")
    press("r")
    expect(said(page)).to_contain_text("2 terms are required.")
    expect(page.locator("[data-chosen-bar]")).to_be_hidden()
    expect(page.locator("#show-required")).to_have_text("Required 2")

    press("/")
    page.keyboard.type("moor")
    expect(rows(page)).to_have_text(["mooring line"])
    expect(page).to_have_url(f"{terms}?q=moor")
    press("ArrowDown")
    press("o")
    expect(page.get_by_role("heading", level=1)).to_have_text("mooring line")
    expect(page.locator(".place-text mark").first).to_have_text("mooring line")
    wait_until_keys_work(page)
    press("j")
    press("Enter")
    expect(page).to_have_url(re.compile(r"\?lines=3#L3$"))
    expect(page.locator(".passage")).to_contain_text("A mooring line holds the vessel.")


def test_shift_chooses_all_between_and_a_new_term_leaves_them_chosen(
    visit, site, olive, project, terms
):
    page = visit(olive)
    page.goto(terms)
    wait_until_live(page)
    boxes = page.locator('#results input[name="ids"]')
    boxes.nth(1).click()
    boxes.nth(3).click(modifiers=["Shift"])
    expect(page.locator("[data-chosen-count]")).to_have_text("3")
    # A run finds more while somebody chooses.
    extract(site, project, ["anchor", *TEXTS])
    expect(rows(page)).to_have_text(["anchor", *TEXTS])
    expect(page.locator("[data-chosen-count]")).to_have_text("3")
    # What is done to another row is nothing to the chosen ones.
    page.get_by_role("button", name="Exclude buoy").click()
    expect(said(page)).to_contain_text("“buoy” is excluded.")
    expect(page.locator("[data-chosen-count]")).to_have_text("3")
    page.locator("[data-chosen-bar]").get_by_role("button", name="Make synonyms").click()
    expect(said(page)).to_contain_text("now stand under “pilot”")
    expect(page.get_by_text("also berth, tide")).to_be_visible()


def test_nothing_moves_under_the_pointer(visit, olive, terms):
    page = visit(olive)
    page.goto(terms)
    wait_until_keys_work(page)
    pilot = page.get_by_role("link", name="pilot")
    before = pilot.bounding_box()
    page.get_by_label("Select tide").check()
    expect(page.locator("[data-chosen-bar]")).to_be_in_viewport()
    assert pilot.bounding_box() == before
    page.get_by_label("Select tide").uncheck()
    # The second half of a double click would meet the row that has moved up.
    page.get_by_role("button", name="Exclude berth").click()
    expect(said(page)).to_contain_text("“berth” is excluded.")
    expect(said(page)).to_be_in_viewport()
    page.mouse.down(click_count=2)
    page.mouse.up(click_count=2)
    assert pilot.bounding_box() == before
    page.wait_for_load_state("networkidle")
    expect(rows(page)).to_have_text([text for text in TEXTS if text != "berth"])


def test_far_down_in_a_list_one_stays_there(visit, site, olive, project, terms):
    many = [f"buoy {letter}{other}" for letter in "abcdef" for other in "klmnop"]
    extract(site, project, many)
    page = visit(olive)
    page.goto(terms)
    wait_until_live(page)
    link = page.get_by_role("link", name="buoy dk")
    page.get_by_role("button", name="Exclude buoy dl").scroll_into_view_if_needed()
    before = link.bounding_box()
    page.get_by_role("button", name="Exclude buoy dl").click()
    expect(said(page)).to_contain_text("is excluded.")
    assert link.bounding_box() == before
    # What a run finds meanwhile does not move it either.
    extract(site, project, [*many, "zenith"])
    expect(page.locator("#show-all .count")).to_have_text("37")
    assert link.bounding_box() == before


def test_a_category_for_several_by_keys_and_back_again(visit, olive, terms):
    page = visit(olive)
    press = page.keyboard.press
    page.goto(terms)
    wait_until_keys_work(page)
    for key in ("j", "x", "j", "x", "c"):
        press(key)
    choice = page.get_by_label("Category of the selected terms")
    expect(choice).to_be_focused()
    choice.select_option("Organisation")
    press("Tab")
    press("Enter")
    expect(said(page)).to_contain_text("2 terms have the category “Organisation”.")
    expect(page.locator(".term-category")).to_have_text(["Organisation"] * 2)
    press("z")
    expect(said(page)).to_contain_text("2 terms are as they were.")
    expect(page.locator(".term-category")).to_have_count(0)


def test_adding_one_and_giving_it_a_synonym(visit, olive, terms):
    page = visit(olive)
    page.goto(terms)
    wait_until_keys_work(page)
    page.keyboard.press("a")
    expect(page.get_by_label("Term", exact=True)).to_be_focused()
    page.keyboard.type("Fender")
    page.keyboard.press("Enter")
    expect(said(page)).to_contain_text("“Fender” was added.")
    page.get_by_role("link", name="Fender").click()
    other = page.get_by_label("Means the same as")
    other.press_sequentially("cra")
    expect(page.locator("#suggestions option")).to_have_attribute("value", "crane")
    other.fill("crane")
    other.press("Enter")
    expect(said(page)).to_contain_text("“crane” now means the same as “Fender”.")


def test_without_scripts_every_button_works(visit, olive, terms):
    page = visit(olive, java_script_enabled=False)
    page.goto(f"{terms}?sort=term")
    page.get_by_role("button", name="Exclude pilot").click()
    expect(page).to_have_url(f"{terms}?sort=term")
    page.get_by_role("button", name="Undo").click()
    expect(said(page)).to_contain_text("1 term is as it was.")
    page.get_by_label("Select tide").check()
    page.get_by_role("group").get_by_role("button", name="Require").click()
    expect(said(page)).to_contain_text("“tide” is required.")


def test_the_pages_fit_a_telephone_and_name_their_parts(visit, olive, project, terms):
    page = visit(olive, viewport={"width": 375, "height": 812})
    page.goto(terms)
    one = rows(page).first.get_attribute("href")
    parts = ["terms/?show=excluded", "terms/add/", "settings/categories/"]
    wrong = {}
    for address in (terms, one, *(f"{project.url}{part}" for part in parts)):
        page.goto(address)
        found = audit(page) + (["scrolls sideways"] if beyond_the_edge(page) else [])
        if found:
            wrong[address] = found
    assert wrong == {}
