"""Making a project, and ending one."""

import re

from playwright.sync_api import expect


def test_a_new_project_and_a_name_that_is_taken(visit, trouble, olive):
    page = visit(olive)
    page.goto("/")
    page.get_by_role("link", name="New project").first.click()
    page.get_by_label("Name").fill("Lighthouse")
    page.get_by_label("Description").fill("Lamps, lenses and logbooks")
    page.get_by_role("button", name="Create project").click()
    expect(page.get_by_role("heading", level=1, name="Lighthouse")).to_be_visible()

    trouble.expect("status of 4(09|22)")
    page.goto("/projects/new/")
    page.get_by_label("Name").fill("LIGHTHOUSE")
    page.get_by_label("Description").fill("Another one")
    page.get_by_role("button", name="Create project").click()
    name = page.get_by_label("Name")
    expect(name).to_be_focused()
    expect(name).to_have_value("LIGHTHOUSE")
    expect(name).to_have_accessible_description(re.compile("already a project called"))
    expect(page.get_by_label("Description")).to_have_value("Another one")


def test_a_project_ends_only_with_its_name(visit, trouble, olive, project):
    page = visit(olive)
    page.goto(f"{project.url}settings/")
    confirmation = page.get_by_label("to confirm")
    button = page.get_by_role("button", name="Delete this project")

    trouble.expect("status of 422")
    confirmation.fill("something else")
    button.click()
    expect(page.get_by_text("Nothing was deleted")).to_be_visible()

    confirmation.fill(project.name)
    button.click()
    expect(page.get_by_role("heading", level=1, name="Projects")).to_be_visible()
    expect(page.get_by_role("link", name=project.name, exact=True)).to_have_count(0)
