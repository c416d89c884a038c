"""Documents come in, are read, change, and go."""

import re
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.visiting import drop, wait_until_live

MANUAL = "# Manual\n\n## Mooring\n\nTie up.\n\n## Casting off\n\nLet go.\n"
JAPANESE = "灯台の日誌\n\n第一章　夜の当直は日没に始まり、日の出に終わる。\n"
HOSTILE = """# A harmless title <img src=x onerror="window.ran=1">

<script>window.ran = 1</script>
<img src="x" onerror="window.ran=1"> <svg onload="window.ran=1"></svg>
<details open ontoggle="window.ran=1"><summary>More</summary></details>
<iframe srcdoc="<script>parent.ran=1</script>"></iframe>
<style>body { display: none }</style>
<a href="javascript:window.ran=1">first</a> [second](javascript:window.ran=1)
[third](<java&#115;cript:window.ran=1>) <a href="data:text/html,<script>1</script>">fourth</a>
"""


def test_files_and_folders_are_dropped_and_each_is_answered(visit, olive, project, tmp_path: Path):
    (tmp_path / "ship" / "chapter1").mkdir(parents=True)
    (tmp_path / "ship" / "chapter1" / "manual.md").write_text(MANUAL)
    (tmp_path / "journal.txt").write_bytes(JAPANESE.encode("shift_jis"))
    (tmp_path / ".env").write_text("PASSWORD=1")
    (tmp_path / "empty.md").touch()

    page = visit(olive)
    page.goto(f"{project.url}documents/add/")
    drop(page, sorted(tmp_path.iterdir()))

    def result(path: str):
        return page.locator("[data-results] li").filter(has_text=path)

    expect(page.locator("[data-note]")).to_contain_text("2 added")
    expect(result("ship/chapter1/manual.md")).to_contain_text("added")
    expect(result("journal.txt")).to_contain_text("added")
    expect(result(".env")).to_contain_text("looks like a file with secrets")
    expect(result("empty.md")).to_contain_text("The file is empty")

    result("journal.txt").get_by_role("link").click()
    expect(page.get_by_role("main")).to_contain_text("夜の当直は日没に始まり")

    page.goto(f"{project.url}documents/")
    page.get_by_role("link", name="ship/chapter1/manual.md").click()
    expect(page.get_by_role("heading", level=1, name="Manual")).to_be_visible()
    contents = page.get_by_role("navigation", name="Contents")
    contents.get_by_role("link", name="Casting off").click()
    expect(page).to_have_url(re.compile("#casting-off$"))
    expect(page.get_by_role("heading", name="Casting off")).to_be_in_viewport()


def test_the_contents_follow_the_reading(visit, olive, project):
    parts = [f"## Part {n}\n\n{'The tide turns. ' * 80}\n" for n in range(1, 61)]
    address = project.add("long.md", "# Long\n\n" + "\n".join(parts))
    page = visit(olive)
    page.goto(address)
    page.mouse.wheel(0, 100_000)
    current = page.get_by_role("navigation", name="Contents").locator("[aria-current]")
    expect(current).to_have_text(re.compile("Part (59|60)"))
    expect(current).to_be_in_viewport()


def test_a_chosen_folder_keeps_its_paths_and_changes_become_versions(
    visit, olive, project, tmp_path: Path
):
    folder = tmp_path / "deck"
    (folder / "aft").mkdir(parents=True)
    (folder / "aft" / "winch.md").write_text(MANUAL)
    (folder / "log.md").write_text("# Log\n")
    project.add("deck/log.md", "# Log of last year\n")

    page = visit(olive)
    page.goto(f"{project.url}documents/add/")
    page.locator("[data-folder]").set_input_files(folder)
    expect(page.locator("[data-note]")).to_contain_text("1 added, 1 with a new version")
    results = page.locator("[data-results] li")
    expect(results.filter(has_text="deck/aft/winch.md")).to_contain_text("added")
    expect(results.filter(has_text="deck/log.md")).to_contain_text("new version 2")


def test_history_differences_rename_download_and_delete(visit, olive, project):
    project.add("rules.md", "# Rules\n\nKeep to starboard.\n")
    address = project.add("rules.md", "# Rules\n\nKeep well to starboard.\n")
    page = visit(olive)

    page.goto(address)
    page.get_by_role("link", name="History").click()
    page.get_by_role("link", name="Changes in version 2").click()
    expect(page.get_by_text("1 line added")).to_be_visible()
    expect(page.locator("ins")).to_have_text("well ")
    expect(page.locator(".diff-del")).to_contain_text("Keep to starboard.")

    page.goto(address)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    assert download.value.suggested_filename == "rules.md"
    assert "Keep well to starboard." in Path(download.value.path()).read_text()

    page.locator("summary", has_text="Rename").click()
    page.get_by_label("New path").fill("bridge/rules.md")
    page.get_by_role("main").get_by_role("button", name="Rename").click()
    expect(page.get_by_role("main")).to_contain_text("bridge/rules.md")

    page.get_by_role("link", name="Delete").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Delete this document?")
    page.get_by_role("link", name="Cancel").click()
    expect(page.get_by_role("heading", level=1, name="Rules")).to_be_visible()
    page.get_by_role("link", name="Delete").click()
    page.get_by_role("button", name="Delete for good").click()
    expect(page.get_by_text("No documents yet")).to_be_visible()


def test_a_hostile_document_runs_nothing(visit, olive, project):
    address = project.add("hostile.md", HOSTILE)
    page = visit(olive)
    page.goto(address)
    expect(page.get_by_role("heading", level=1)).to_contain_text("A harmless title")
    for text in ("first", "second", "third", "fourth"):
        page.get_by_text(text).first.click()
    wait_until_live(page)
    assert page.url.startswith(address)
    assert page.evaluate("window.ran") is None
    left = page.locator("main :is(script, style, iframe, img, [onerror], [ontoggle], [onload])")
    expect(left).to_have_count(0)
    expect(page.locator("main a[href^='javascript'], main a[href^='data']")).to_have_count(0)
