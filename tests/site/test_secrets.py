"""Stored secrets: unreadable without the key, readable after the key was changed with care."""

import pytest

from glossary_site.secrets import SecretUnreadable, decrypt, encrypt

OLD, NEW = "o" * 40, "n" * 40


def test_a_secret_comes_back_and_does_not_show():
    token = encrypt("sk-鍵-123")
    assert "123" not in token
    assert decrypt(token) == "sk-鍵-123"
    assert encrypt("sk-鍵-123") != token


def test_a_changed_key_is_a_sentence_and_not_a_crash(settings):
    token = encrypt("sk-1")
    settings.SECRET_KEY = "another"
    with pytest.raises(SecretUnreadable) as unreadable:
        decrypt(token)
    assert unreadable.value.code == "secret_unreadable"
    assert "again" in str(unreadable.value)
    assert token not in repr(unreadable.value) + str(unreadable.value)
    assert unreadable.value.__cause__ is None


@pytest.mark.parametrize("token", ["", "nonsense", "gAAAAA"])
def test_what_was_never_encrypted_is_unreadable(token):
    with pytest.raises(SecretUnreadable):
        decrypt(token)


def test_keys_are_rotated_by_putting_a_new_one_in_front(settings):
    by_default = encrypt("sk-1")
    settings.ENCRYPTION_KEYS = [OLD]
    by_old = encrypt("sk-2")
    settings.ENCRYPTION_KEYS = [NEW, OLD]
    by_new = encrypt("sk-3")
    assert [decrypt(token) for token in (by_default, by_old, by_new)] == ["sk-1", "sk-2", "sk-3"]
    settings.ENCRYPTION_KEYS = [NEW]
    assert decrypt(by_new) == "sk-3"
    with pytest.raises(SecretUnreadable):
        decrypt(by_old)


def test_named_keys_outlive_the_sites_own(settings):
    settings.ENCRYPTION_KEYS = [OLD]
    token = encrypt("sk-1")
    settings.SECRET_KEY = "another"
    assert decrypt(token) == "sk-1"


def test_django_s_own_way_to_change_the_secret_key_works_too(settings):
    token = encrypt("sk-1")
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another"
    assert decrypt(token) == "sk-1"
