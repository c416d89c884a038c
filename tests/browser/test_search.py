"""Searching as one types, going through the results by keys, and reading the marked lines."""

import re

from playwright.sync_api import Page, expect

from tests.browser.visiting import wait_until_live

# Long enough that the last section is out of sight.
FILLING = "\n\n".join(f"Paragraph {n} about something else entirely." for n in range(60))
HANDBOOK = f"# Handbook\n\n## Before\n\n{FILLING}\n\n## Berthing\n\nThe bollard takes the hawser.\n"
JAPANESE = "# 係留の手引き\n\n## 係留索\n\n係留索は二本以上とし、潮位に応じて張りを調整する。\n"


def search_box(page: Page):
    return page.get_by_role("searchbox")


def results(page: Page):
    return page.locator("[data-row-link]")


def wait_until_indexed(page: Page, project) -> None:
    """The list of documents says so by itself."""
    page.goto(f"{project.url}documents/")
    expect(page.locator("td .badge", has_text="updating")).to_have_count(0)
    expect(page.locator("td .badge-ok", has_text="latest").first).to_be_visible()


def test_from_the_first_letters_to_the_marked_lines_by_keys(visit, olive, project):
    project.add("handbook.md", HANDBOOK)
    project.add("tides.md", "# Tides\n\nThe bollard is dry at low tide.\n")
    page = visit(olive)
    wait_until_indexed(page, project)
    press = page.keyboard.press

    press("g")
    press("s")
    expect(search_box(page)).to_be_focused()
    expect(page.get_by_text("How to ask")).to_be_visible()
    page.keyboard.type("bolla", delay=30)
    # Those that only mean something like it come after them.
    expect(page.locator(".result:has(mark)")).to_have_count(2)
    expect(page.locator("mark").first).to_have_text(re.compile("bollard", re.I))
    # The address can be kept, and says nothing of a word that was not finished.
    expect(page).to_have_url(f"{project.url}search/?q=bolla")

    press("ArrowDown")
    expect(results(page).nth(0)).to_be_focused()
    press("j")
    expect(results(page).nth(1)).to_be_focused()
    press("k")
    press("ArrowUp")
    expect(search_box(page)).to_be_focused()
    press("ArrowDown")
    press("Escape")
    expect(search_box(page)).to_be_focused()
    page.keyboard.type("bollard hawser")
    berthing = page.get_by_role("link", name="Berthing")
    expect(berthing).to_be_visible()
    press("ArrowDown")
    press("Enter")

    expect(page).to_have_url(re.compile(r"\?lines=\d+-\d+&hash=\w+#L\d+$"))
    marked = page.locator(".prose .passage")
    expect(marked.filter(has_text="The bollard takes the hawser.")).to_be_in_viewport()
    expect(page.locator(".prose p", has_text="Paragraph 3 about")).not_to_have_class("passage")
    # A page with nothing to filter: the same key leads to the search.
    press("/")
    expect(search_box(page)).to_be_focused()


def test_japanese_is_asked_for_when_the_input_method_is_done(visit, olive, project):
    project.add("係留.md", JAPANESE)
    page = visit(olive)
    wait_until_indexed(page, project)
    page.goto(f"{project.url}search/")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "?q=" in request.url else None)
    devtools = page.context.new_cdp_session(page)
    for text in ("k", "け", "けい", "係留"):
        devtools.send(
            "Input.imeSetComposition",
            {"text": text, "selectionStart": len(text), "selectionEnd": len(text)},
        )
    page.wait_for_timeout(300)
    assert asked == []
    devtools.send("Input.insertText", {"text": "係留索"})
    expect(page.locator(".result:has(mark)").first).to_contain_text("二本以上")
    assert len(asked) == 1


def test_without_scripts_it_is_a_form_and_links(visit, olive, project):
    project.add("tides.md", "# Tides\n\nThe bollard is dry at low tide.\n")
    wait_until_indexed(visit(olive), project)
    page = visit(olive, java_script_enabled=False)
    page.goto(f"{project.url}search/")
    search_box(page).fill("bollard")
    page.get_by_label("Find by").select_option("lexical")
    page.get_by_role("main").get_by_role("button", name="Search").click()
    expect(page).to_have_url(re.compile(r"q=bollard&mode=lexical"))
    results(page).first.click()
    expect(page.locator(".passage").last).to_be_in_viewport()


def test_a_page_that_stays_open_learns_of_new_texts(visit, olive, project):
    page = visit(olive)
    page.goto(f"{project.url}search/?q=bollard")
    wait_until_live(page)
    expect(page.get_by_text("This project has no documents yet.")).to_be_visible()
    project.add("tides.md", "# Tides\n\nThe bollard is dry at low tide.\n")
    expect(results(page).first).to_be_visible()


def test_failures_of_the_index_and_its_settings_are_in_reach(visit, olive, project):
    project.add("tides.md", "# Tides\n\nThe bollard is dry at low tide.\n")
    page = visit(olive)
    wait_until_indexed(page, project)
    page.goto(f"{project.url}search/")
    page.get_by_role("link", name="Index", exact=True).click()
    expect(page.get_by_role("definition").first).to_contain_text("1 of 1")
    page.locator("summary", has_text="Rebuild").click()
    page.get_by_role("button", name="Rebuild").click()
    expect(page.get_by_text("1 document waits to be indexed anew.")).to_be_visible()
    expect(page.locator("tbody .badge-ok", has_text="Completed")).to_have_count(2)
    page.get_by_role("link", name="Settings").last.click()
    expect(page.get_by_role("heading", name="Search settings")).to_be_attached()
