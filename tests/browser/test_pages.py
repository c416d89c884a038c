"""What every page owes its readers: room on a telephone, names for everything, two languages."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.visiting import SharedProject

CONTROLS = {
    "button",
    "checkbox",
    "combobox",
    "DisclosureTriangle",
    "link",
    "radio",
    "searchbox",
    "textbox",
}
WIDE = """# A table that is wider than a telephone

| one | two | three | four | five | six | seven |
|-----|-----|-------|------|------|-----|-------|
| a rather long cell | another long cell | and a third | 4444444444 | 5555555555 | 6 | 7 |

```
a line of code that goes on and on, far beyond the right edge of any telephone's screen
```

## A_heading_without_a_single_space_that_could_be_broken_to_the_next_line

[A link](https://example.org/an/address/that/is/as/long/as/addresses/sometimes/are/in/real/life)
"""


def audit(page: Page) -> list[str]:
    """What is missing in the page as assistive technology sees it."""
    devtools = page.context.new_cdp_session(page)
    nodes: list[dict[str, Any]] = devtools.send("Accessibility.getFullAXTree")["nodes"]
    devtools.detach()
    seen = [node for node in nodes if not node.get("ignored")]

    def role(node: dict[str, Any]) -> str:
        return node.get("role", {}).get("value", "")

    def name(node: dict[str, Any]) -> str:
        return node.get("name", {}).get("value", "").strip()

    def level(node: dict[str, Any]) -> int:
        values = {entry["name"]: entry["value"] for entry in node.get("properties", [])}
        return values.get("level", {}).get("value", 0)

    missing = [
        f"{role(node)} without a name: {node.get('backendDOMNodeId')}"
        for node in seen
        if role(node) in CONTROLS and not name(node)
    ]
    roles = [role(node) for node in seen]
    for landmark in ("banner", "main", "contentinfo"):
        if roles.count(landmark) != 1:
            missing.append(f"{roles.count(landmark)} times {landmark}")
    titles = [name(node) for node in seen if role(node) == "heading" and level(node) == 1]
    if len(titles) != 1:
        missing.append(f"not one heading of level 1: {titles}")
    if not page.title():
        missing.append("no title")
    return missing


def beyond_the_edge(page: Page) -> int:
    """Pixels by which the page can be scrolled sideways."""
    return page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )


def background(page: Page) -> str:
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


@pytest.fixture
def main_pages(project: SharedProject) -> list[str]:
    folder = "a-folder-with-a-long-name/and-another-one-inside-of-it"
    path = f"{folder}/a-file-with-a-name-that-goes-on-and-on-without-a-space.md"
    project.add(path, WIDE)
    reader = project.add(path, f"{WIDE}\nOne more line.\n")
    parts = ["", "documents/", "documents/add/", "members/", "activity/", "settings/", "clone/"]
    parts += ["search/", "search/?q=table+wide&path=**", "index/", "settings/search/"]
    return [
        "/",
        "/search/?q=nothing+has+these",
        "/projects/new/",
        *(f"{project.url}{part}" for part in parts),
        reader,
        f"{reader}history/",
        f"{reader}diff/",
        f"{reader}versions/1/",
        f"{reader}rename/",
        f"{reader}delete/",
        "/account/",
        "/account/password/",
    ]


def test_every_page_fits_a_telephone_and_names_its_parts(visit, olive, main_pages):
    telephone = {"width": 375, "height": 812}
    stranger, page = visit(viewport=telephone), visit(olive, viewport=telephone)
    wrong = {}
    for window, address in [(stranger, "/account/sign-in/"), *((page, p) for p in main_pages)]:
        window.goto(address)
        window.emulate_media(color_scheme="light")
        light, edge = background(window), beyond_the_edge(window)
        window.emulate_media(color_scheme="dark")
        found = audit(window)
        if edge or beyond_the_edge(window):
            found.append("scrolls sideways")
        if background(window) == light:
            found.append("no dark theme")
        if found:
            wrong[address] = found
    assert wrong == {}


def test_the_language_is_switched_and_stays(visit, trouble, olive, project):
    page = visit(olive)
    page.goto(project.url)
    page.get_by_role("button", name="日本語").click()
    expect(page.locator("html")).to_have_attribute("lang", "ja")
    expect(page).to_have_url(project.url)

    trouble.expect("status of 422")
    page.goto("/projects/new/")
    page.locator("main form button").click()
    expect(page.get_by_role("alert")).to_contain_text("必須")

    page.goto(project.url)
    page.get_by_role("button", name="English").click()
    expect(page.locator("html")).to_have_attribute("lang", "en")
    expect(page).to_have_url(project.url)


def test_a_chosen_theme_stays(visit, olive):
    page = visit(olive, color_scheme="light")
    page.goto("/")
    light = background(page)
    page.get_by_role("button", name="Theme: as the system").click()
    page.get_by_role("button", name="Theme: light").click()
    expect(page.get_by_role("button", name="Theme: dark")).to_be_visible()
    page.goto("/account/")
    assert background(page) != light
