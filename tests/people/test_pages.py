"""Signing in and out, passwords, and the account page with its tokens."""

import pytest
from django.test import Client
from django.urls import reverse

from glossary_site.people.address import behind_proxy
from glossary_site.people.models import ApiToken
from glossary_site.people.services import create_token, user_of_token
from tests import factories
from tests.factories import PASSWORD

pytestmark = pytest.mark.django_db

FORM = "application/x-www-form-urlencoded"
NEW_PASSWORD = "a wholly different phrase 7"


def try_sign_in(client: Client, username: str, password: str, **extra):
    return client.post(
        reverse("sign-in"), {"username": username, "password": password, **extra}, follow=False
    )


class TestSignIn:
    def test_a_stranger_is_sent_to_sign_in_and_back_to_where_they_wanted(self, client, owner):
        wanted = reverse("account")
        response = client.get(wanted)
        assert response.url == f"{reverse('sign-in')}?next={wanted}"
        assert 'name="next" value="/account/"' in client.get(response.url).text
        assert try_sign_in(client, "olive", PASSWORD, next=wanted).url == wanted
        assert client.get(wanted).status_code == 200

    def test_a_button_after_the_session_has_ended(self, client, owner):
        page, button = reverse("account"), reverse("token-create")
        response = client.post(button, headers={"referer": f"http://testserver{page}?x=1"})
        assert response.url == f"{reverse('sign-in')}?next=/account/%3Fx%3D1"
        assert "nothing was done" in client.get(response.url).text
        strange = client.post(button, headers={"referer": "https://elsewhere.example/a/"})
        assert strange.url == f"{reverse('sign-in')}?next=/"

    def test_the_address_of_a_button_has_a_page(self, sign_in, owner):
        response = sign_in(owner).get(reverse("sign-out"))
        assert response.status_code == 405
        assert response.headers["Allow"]
        assert "This is the address of a button" in response.text

    def test_it_never_leads_to_another_site(self, client, owner):
        response = try_sign_in(client, "olive", PASSWORD, next="https://elsewhere.example/")
        assert response.url == reverse("project-list")

    def test_the_answer_does_not_tell_who_has_an_account(self, client, owner):
        factories.make_user("closed", is_active=False)
        answers = {
            try_sign_in(client, name, "wrong").context["form"].non_field_errors()[0]
            for name in ("olive", "nobody", "closed")
        }
        assert len(answers) == 1

    def test_too_many_attempts_are_stopped_with_the_same_words_for_everybody(
        self, client, owner, settings
    ):
        settings.AXES_FAILURE_LIMIT = 3
        pages = []
        for name in ("olive", "nobody"):
            for _attempt in range(3):
                response = try_sign_in(client, name, "wrong")
            # The right password does not help now.
            assert try_sign_in(client, name, PASSWORD).status_code == 429
            assert response.status_code == 429
            pages.append(response.text.partition("<main")[2].partition("</main>")[0])
        assert pages[0] == pages[1]
        assert "Too many attempts" in pages[0]

    def test_behind_a_proxy_nobody_locks_another_person_out(self, client, owner, settings):
        settings.AXES_CLIENT_IP_CALLABLE = "glossary_site.people.address.behind_proxy"
        settings.AXES_FAILURE_LIMIT = 3

        def status(password: str, came_from: str) -> int:
            client.defaults["HTTP_X_FORWARDED_FOR"] = came_from
            return try_sign_in(client, "olive", password).status_code

        # What the attacker makes up stands before what the proxy saw.
        answers = [status("wrong", f"203.0.113.{n}, 198.51.100.7") for n in range(3)]
        assert answers == [200, 200, 429]
        assert status(PASSWORD, "192.0.2.1") == 302

    @pytest.mark.parametrize("came_from", ["", "nonsense", "192.0.2.1, "])
    def test_a_forwarded_address_that_is_none_is_not_believed(self, rf, came_from):
        request = rf.get("/", HTTP_X_FORWARDED_FOR=came_from)
        assert behind_proxy(request) == "127.0.0.1"

    @pytest.mark.parametrize("kind", ["multipart/form-data; boundary=x", FORM])
    def test_a_form_is_utf8_whatever_its_header_says(self, client, kind):
        body = b'--x\r\nContent-Disposition: form-data; name="username"\r\n\r\na\r\n--x--\r\n'
        kind += "; charset=rot13"
        response = client.generic("POST", reverse("sign-in"), body, content_type=kind)
        assert response.status_code == 200

    def test_the_language_can_be_chosen_before_signing_in(self, client):
        address = reverse("sign-in")
        response = client.post(reverse("set_language"), {"language": "ja", "next": address})
        assert response.url == address
        assert '<html lang="ja"' in client.get(address).text

    def test_signing_out_needs_a_post_and_ends_the_session(self, owner, sign_in):
        client = sign_in(owner)
        assert client.get(reverse("sign-out")).status_code == 405
        assert client.post(reverse("sign-out")).url == reverse("sign-in")
        assert client.get(reverse("account")).status_code == 302


class TestPassword:
    def change(self, client, old=PASSWORD, new=NEW_PASSWORD, again=NEW_PASSWORD):
        data = {"old_password": old, "new_password1": new, "new_password2": again}
        return client.post(reverse("password-change"), data)

    def test_a_temporary_password_is_asked_to_be_changed_until_it_is(self, sign_in):
        person = factories.make_user("new", password_is_temporary=True)
        client = sign_in(person)
        assert "temporary password" in client.get(reverse("account")).text
        assert self.change(client).url == reverse("account")
        page = client.get(reverse("account")).text
        assert "temporary password" not in page
        assert "Your password is changed." in page
        person.refresh_from_db()
        assert person.check_password(NEW_PASSWORD)

    @pytest.mark.parametrize(
        ("field", "data"),
        [
            ("old_password", {"old": "wrong"}),
            ("new_password2", {"again": "something else 99"}),
            ("new_password2", {"new": "12345678", "again": "12345678"}),
        ],
    )
    def test_a_mistake_is_shown_at_its_field(self, owner, sign_in, field, data):
        response = self.change(sign_in(owner), **data)
        assert list(response.context["form"].errors) == [field]
        assert f'id="id_{field}_error"' in response.text
        owner.refresh_from_db()
        assert owner.check_password(PASSWORD)


class TestTokens:
    def test_the_secret_is_shown_once_and_works(self, owner, sign_in):
        client = sign_in(owner)
        response = client.post(reverse("token-create"), {"name": "robot"})
        secret = response.context["secret"]
        assert secret in response.text
        assert "no-store" in response["Cache-Control"]
        assert user_of_token(secret) == owner
        page = client.get(reverse("account")).text
        assert "robot" in page
        assert secret not in page

    def test_a_token_needs_a_name(self, owner, sign_in):
        response = sign_in(owner).post(reverse("token-create"), {"name": "  "})
        assert response.status_code == 422
        assert "id_name_error" in response.text
        assert not ApiToken.objects.exists()

    def test_revoking_ends_it_and_twice_is_no_error(self, owner, sign_in):
        token, secret = create_token(user=owner, name="robot")
        client = sign_in(owner)
        address = reverse("token-revoke", args=[token.pk])
        assert "is revoked" in client.post(address, follow=True).text
        assert user_of_token(secret) is None
        assert "already gone" in client.post(address, follow=True).text

    def test_nobody_revokes_or_sees_anothers_token(self, owner, outsider, sign_in):
        token, secret = create_token(user=owner, name="robot")
        client = sign_in(outsider)
        client.post(reverse("token-revoke", args=[token.pk]))
        assert user_of_token(secret) == owner
        assert "robot" not in client.get(reverse("account")).text
