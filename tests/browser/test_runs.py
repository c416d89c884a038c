"""From documents to a glossary as people do it: start, watch, publish, stop."""

import re
import time

from playwright.sync_api import Route, expect

from tests.browser.test_keyboard import wait_until_keys_work
from tests.browser.visiting import wait_until_live

HARBOUR = """# Harbour

A **pilot boat** is a small vessel that brings a pilot to an arriving ship. The pilot boat waits at
the pilot station.

A **pilot station** is a place where pilots wait for ships. Each pilot station has a pilot boat.

## Berths

The **harbour master** is the officer who assigns every berth. A **mooring line** is a rope that
holds a ship at its berth. The mooring line is checked by the harbour master twice a day.
"""
# Seconds of work, in portions between which it can be stopped.
PORTIONS = 12
PORTION = "\n\n".join(
    f"The pilot boat number {n} takes the mooring line of berth {n} to the harbour master’s "
    f"signal station, where tidal gauge {n} and storm warning {n} are read."
    for n in range(250)
)


def test_from_documents_to_published_entries_and_back(visit, olive, project):
    project.add("harbour.md", HARBOUR)
    page = visit(olive)
    page.goto(project.url)
    page.get_by_role("button", name="Run", exact=True).click()
    # Without a reload, whenever one comes to look: the end, and the whole log.
    expect(page.locator("h1 .badge")).to_have_text("Completed")
    expect(page.locator(".log-line").first).to_have_text(re.compile("The run has begun"))
    expect(page.locator(".log-line").last).to_have_text(re.compile("The run is complete"))
    numbers = page.locator(".log-line").evaluate_all("lines => lines.map((line) => line.id)")
    assert numbers == [f"line-{n}" for n in range(1, len(numbers) + 1)]

    page.get_by_label("Filter the log").fill("complete")
    expect(page.locator(".log-line")).to_have_count(1)
    desk = page.viewport_size
    page.set_viewport_size({"width": 375, "height": 812})
    page.get_by_role("link", name=re.compile("^Refined")).click()
    # On a telephone, too, one sees at once what one has asked for.
    expect(page.locator("table.entries")).to_be_in_viewport()
    page.set_viewport_size(desk)
    pilot_boat = page.locator("tr", has=page.locator("td.entry-term strong", has_text="pilot boat"))
    expect(pilot_boat).to_contain_text("a small vessel that brings a pilot")
    # Without a mouse: to an entry, its quotes, and the wish to publish it.
    wait_until_keys_work(page)
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("details.entry-more[open] blockquote").first).to_be_visible()
    page.keyboard.press("x")
    expect(page.locator('input[name="key"]:checked')).to_have_count(1)
    page.keyboard.press("Enter")
    page.keyboard.press("x")
    expect(page.locator('input[name="key"]:checked')).to_have_count(0)
    pilot_boat.locator("summary").click()
    pilot_boat.get_by_role("link", name=re.compile(r"harbour\.md")).click()
    expect(page.locator(".passage").first).to_contain_text("is a small vessel")
    page.go_back()

    page.get_by_role("button", name=re.compile("^Publish( all)?$")).click()
    expect(page.get_by_text(re.compile("Published: [1-9]"))).to_be_visible()
    page.get_by_role("link", name="To the glossary").click()
    expect(page.get_by_role("main")).to_contain_text("a small vessel that brings a pilot")
    page.go_back()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("of the glossary are as they were before.")).to_be_visible()


def test_a_run_is_stopped_and_says_so_to_everybody(visit, olive, vera, project):
    for n in range(PORTIONS):
        project.add(f"part-{n}.md", PORTION)
    project.invite(vera, "viewer")
    watching = visit(vera)
    watching.goto(project.url)
    wait_until_live(watching)
    page = visit(olive)
    page.goto(f"{project.url}runs/")
    page.get_by_role("button", name="Find terms").click()
    expect(watching.locator("#pipeline .badge")).to_have_text(re.compile("Running|Waiting"))
    expect(watching.locator("#pipeline").get_by_role("button")).to_have_count(0)
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("h1 .badge")).to_have_text("Cancelled")
    expect(page.locator(".log-line", has_text="Stopped by olive.")).to_be_visible()
    expect(watching.locator("#pipeline")).to_contain_text("An editor or owner")
    expect(watching.get_by_text(re.compile("olive.* stopped Run"))).to_be_visible()


def test_it_is_all_there_without_scripts(visit, olive, project):
    page = visit(olive, java_script_enabled=False)
    page.goto(f"{project.url}runs/")
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_disabled()
    expect(page.locator("#run-missing")).to_contain_text("Add documents to the project first.")
    project.add("harbour.md", HARBOUR)
    page.reload()
    page.get_by_label("Run", exact=True).select_option("from_terms")
    page.get_by_role("button", name="Estimate").click()
    expect(page.locator("#run-missing")).to_contain_text("There are no terms yet.")
    page.get_by_role("button", name="Find terms").click()
    expect(page.locator("h1")).to_contain_text("Run")
    expect(page.get_by_role("link", name=re.compile("^Log"))).to_have_attribute(
        "aria-current", "page"
    )


def test_what_happens_while_a_part_is_fetched_is_not_lost(visit, olive, project):
    """The part is replaced by what was true before: it has to be asked for once more."""
    page = visit(olive)
    page.goto(project.url)
    wait_until_live(page)
    asked = []

    def late(route: Route) -> None:
        asked.append(route.request.url)
        answer = route.fetch()
        if len(asked) == 1:
            project.add("second.md", "# Second\n")
            # The page hears of it before it has its answer.
            time.sleep(1.2)
        route.fulfill(response=answer)

    page.route(f"**/projects/{project.id}/head/*", late)
    project.add("first.md", "# First\n")
    expect(page.get_by_role("link", name="Documents 2")).to_be_visible()
    assert len(asked) > 1
