"""Arriving, choosing a password, and keys for programs."""

import httpx
from playwright.sync_api import expect

from projects.sample.load import NAME as SAMPLE
from tests.browser.visiting import sign_in


def test_the_first_administrator_comes_in_and_chooses_a_password(site, visit):
    page = visit()
    page.goto("/")
    sign_in(page, site.administrator, site.first_password)

    expect(page.get_by_role("link", name=SAMPLE)).to_be_visible()
    page.get_by_role("complementary", name="Notice").get_by_role("link").click()

    chosen = "a lantern over the harbour"
    page.get_by_label("Old password").fill(site.first_password)
    page.get_by_label("New password", exact=True).fill(chosen)
    page.get_by_label("New password confirmation").fill(chosen)
    page.get_by_role("main").get_by_role("button", name="Change password").click()

    expect(page.get_by_role("status")).to_contain_text("Your password is changed")
    expect(page.get_by_role("complementary", name="Notice")).to_have_count(0)

    page.get_by_label(f"Account: {site.administrator}").click()
    page.get_by_role("button", name="Sign out").click()
    sign_in(page, site.administrator, chosen)
    expect(page.get_by_role("link", name=SAMPLE)).to_be_visible()


def test_a_wrong_password_is_told_in_one_sentence(visit):
    page = visit()
    page.goto("/account/")
    page.get_by_label("Username").fill("olive")
    page.get_by_label("Password").fill("a guess")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("is not right")
    expect(page.get_by_label("Username")).to_have_value("olive")
    expect(page.get_by_label("Password")).to_have_value("")
    expect(page.get_by_label("Password")).to_be_focused()


def test_a_token_is_shown_once_works_and_is_revoked(site, visit, olive):
    def answer() -> int:
        headers = {"Authorization": f"Bearer {secret}"}
        return httpx.get(f"{site.url}/api/me", headers=headers).status_code

    page = visit(olive)
    page.goto("/account/")
    page.get_by_label("What is it for?").fill("nightly import")
    page.get_by_role("button", name="Make a token").click()
    secret = page.locator("#secret").inner_text()
    assert secret.startswith("gls_")
    assert answer() == 200

    page.goto("/account/")
    assert secret not in page.content()
    row = page.get_by_role("row").filter(has_text="nightly import")
    row.locator("summary").click()
    row.get_by_role("button", name="Revoke the token").click()
    expect(page.get_by_role("status")).to_contain_text("revoked")
    expect(row).to_have_count(0)
    assert answer() == 401
