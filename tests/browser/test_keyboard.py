"""The whole way from signing in to reading, with no mouse."""

from playwright.sync_api import Page, expect

from tests.browser.visiting import PASSWORD


def wait_until_keys_work(page: Page) -> None:
    """The script that listens to keys also shows this button."""
    expect(page.get_by_role("button", name="Keyboard shortcuts")).to_be_visible()


def test_from_signing_in_to_reading_a_document(visit, olive, project):
    project.add("a-first.md", "# First\n")
    project.add("b-second.md", "# Second\n")
    page = visit()
    press = page.keyboard.press

    page.goto("/")
    expect(page.get_by_label("Username")).to_be_focused()
    page.keyboard.type(olive.name)
    press("Tab")
    page.keyboard.type(PASSWORD)
    press("Enter")
    expect(page.get_by_role("heading", level=1, name="Projects")).to_be_visible()
    wait_until_keys_work(page)

    press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type(project.name)
    row = page.locator("[data-row-link]")
    expect(row).to_have_text([project.name])
    # Past the headers, which sort.
    for _ in range(10):
        press("Tab")
        if row.evaluate("link => link === document.activeElement"):
            break
    expect(row).to_be_focused()
    press("Enter")
    expect(page.get_by_role("heading", level=1, name=project.name)).to_be_visible()
    wait_until_keys_work(page)

    press("?")
    shortcuts = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(shortcuts).to_be_visible()
    press("Escape")
    expect(shortcuts).to_be_hidden()

    press("g")
    press("d")
    expect(page.get_by_role("heading", level=1, name="Documents")).to_be_attached()
    wait_until_keys_work(page)
    for key in ("j", "j", "k"):
        press(key)
    expect(page.get_by_role("link", name="a-first.md")).to_be_focused()
    press("j")
    press("Enter")
    expect(page.get_by_role("heading", level=1, name="Second")).to_be_visible()
