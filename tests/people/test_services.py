from datetime import timedelta

import pytest
from django.utils import timezone

from glossary_site.people.models import ApiToken, User
from glossary_site.people.services import (
    create_first_administrator,
    create_token,
    revoke_token,
    user_of_token,
)
from tests import factories

pytestmark = pytest.mark.django_db


def test_a_token_names_its_user_and_only_its_hash_is_kept():
    user = factories.make_user()
    token, secret = create_token(user=user, name="bot")
    assert user_of_token(secret) == user
    assert user_of_token(secret + "x") is None
    token.refresh_from_db()
    assert secret not in str(vars(token))
    assert secret.startswith(token.prefix)
    assert token.last_used_at is not None


def test_a_revoked_token_and_an_inactive_users_token_are_worthless():
    user = factories.make_user()
    token, secret = create_token(user=user, name="bot")
    User.objects.update(is_active=False)
    assert user_of_token(secret) is None
    User.objects.update(is_active=True)
    assert not revoke_token(user=factories.make_user(), token_id=token.pk)
    assert user_of_token(secret) == user
    assert revoke_token(user=user, token_id=token.pk)
    assert user_of_token(secret) is None


def test_a_busy_token_is_not_written_at_every_use(django_assert_num_queries):
    token, secret = create_token(user=factories.make_user(), name="bot")
    user_of_token(secret)
    with django_assert_num_queries(1):
        user_of_token(secret)
    ApiToken.objects.update(last_used_at=timezone.now() - timedelta(hours=1))
    user_of_token(secret)
    token.refresh_from_db()
    assert timezone.now() - token.last_used_at < timedelta(minutes=1)


def test_the_first_administrator_is_made_once():
    user, password = create_first_administrator()
    assert user.is_superuser
    assert user.check_password(password)
    assert user.password_is_temporary
    assert create_first_administrator() is None
