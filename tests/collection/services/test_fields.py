"""What people may say of a repository."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from collection.choices import Kind
from collection.services import fields
from collection.services.fields import BadField


def refused(clean, *values, **more) -> BadField:
    with pytest.raises(BadField) as error:
        clean(*values, **more)
    assert error.value.status == 400
    assert error.value.details["fields"] == {error.value.field: [str(error.value)]}
    return error.value


class TestBranchPatterns:
    def test_names_and_patterns_once_each(self):
        typed = [" main ", "refs/heads/release/*", "", "main", "fix-?", "HEAD", "日本語", "a@b"]
        assert fields.clean_branch_patterns(typed) == [
            "main",
            "release/*",
            "fix-?",
            "HEAD",
            "日本語",
            "a@b",
        ]

    @pytest.mark.parametrize(
        "name",
        [
            "two words",
            "-option",
            "a..b",
            "a~1",
            "a^",
            "a:b",
            "a\\b",
            "[ab]",
            "/a",
            "a/",
            "a//b",
            ".a",
            "a/.b",
            "a.lock",
            "a.lock/b",
            "a.",
            "@",
            "a@{1}",
            "a\x1bb",
            "a\u200bb",
            "x" * 256,
        ],
        ids=ascii,
    )
    def test_what_git_lets_no_branch_be_called(self, name):
        error = refused(fields.clean_branch_patterns, ["main", name])
        assert (error.code, error.field) == ("bad_branch_pattern", "branch_patterns")

    def test_fifty_at_most(self):
        names = [f"b{n}" for n in range(50)]
        assert fields.clean_branch_patterns(names) == names
        assert "50" in str(refused(fields.clean_branch_patterns, [*names, "one-more"]))

    def test_documents_come_from_one_branch(self):
        assert fields.clean_document_branch(" refs/heads/docs ") == "docs"
        assert fields.clean_document_branch("HEAD") == ""
        assert refused(fields.clean_document_branch, "docs/*").code == "bad_document_branch"
        assert refused(fields.clean_document_branch, "a..b").field == "document_branch"


class TestDocumentPatterns:
    def test_lines_as_in_gitignore(self):
        typed = [" docs/**/*.md", "", "*.rst", "!docs/drafts/", "*.rst"]
        assert fields.clean_document_patterns(typed) == ["docs/**/*.md", "*.rst", "!docs/drafts/"]

    @pytest.mark.parametrize("pattern", ["!", "# remark", "/", "a\nb", "x" * 301], ids=ascii)
    def test_what_means_nothing(self, pattern):
        error = refused(fields.clean_document_patterns, ["*.md", pattern])
        assert (error.code, error.field) == ("bad_document_pattern", "document_patterns")

    def test_taking_out_needs_something_taken_in(self):
        assert "!" in str(refused(fields.clean_document_patterns, ["!drafts/"]))

    def test_a_hundred_at_most(self):
        assert "100" in str(
            refused(fields.clean_document_patterns, [f"{n}.md" for n in range(101)])
        )

    def test_the_folder_is_one_of_the_project(self):
        assert fields.clean_folder(" handbook//dev/ ") == "handbook/dev"
        assert fields.clean_folder("/") == ""
        assert refused(fields.clean_folder, "../elsewhere").code == "bad_document_folder"
        assert refused(fields.clean_folder, "a/" * 251).field == "document_folder"


class TestSecrets:
    SSH = "ssh://git@git.example.com/team/app.git"
    WEB = "https://git.example.com/team/app.git"

    def clean(self, secret: str, address: str = WEB, kind: Kind = Kind.GIT) -> str:
        return fields.clean_secret(secret, address=address, kind=kind)

    def test_none(self):
        assert self.clean("  \n") == ""

    def test_a_token_as_it_is_copied(self):
        assert self.clean(" glpat-x\n") == "glpat-x"
        assert self.clean("two words, as passwords may have", kind=Kind.GITLAB)

    @pytest.mark.parametrize(
        ("secret", "word"),
        [
            ("-----BEGIN OPENSSH PRIVATE KEY-----\nx\n-----END OPENSSH PRIVATE KEY-----", "ssh://"),
            ("line\nline", "odd"),
            ("x" * 4001, "too long"),
        ],
        ids=["key", "lines", "long"],
    )
    def test_what_is_no_token(self, secret, word):
        error = refused(self.clean, secret)
        assert (error.code, error.field) == ("bad_secret", "secret")
        assert word in str(error)
        assert secret not in str(error)

    def test_ssh_takes_a_key_and_nothing_else(self):
        assert "private key" in str(refused(self.clean, "glpat-secret", self.SSH))

    def test_a_folder_takes_none(self):
        error = refused(self.clean, "glpat-secret", "/srv/git/app", Kind.LOCAL)
        assert "no key" in str(error)


class TestNames:
    @pytest.mark.parametrize(
        ("address", "name", "longer"),
        [
            ("https://git.example.com/team/app.git", "app", "team/app"),
            ("https://git.example.com/app.git/", "app", "git.example.com/app"),
            ("ssh://git@git.example.com/~ada/notes", "notes", "~ada/notes"),
            ("/srv/git/handbook.git", "handbook", "git/handbook"),
            ("/srv/git/.git", "git", "srv/git"),
            ("https://git.example.com/", "git.example.com", "git.example.com"),
        ],
        ids=["git", "slash", "ssh", "folder", "work tree", "host"],
    )
    def test_from_the_address(self, address, name, longer):
        assert fields.name_from(address) == name
        assert fields.name_from(address, parts=2) == longer

    def test_one_line_of_some_length(self):
        assert fields.clean_name("  Cafe\u0301 ") == "Caf\u00e9"
        assert refused(fields.clean_name, "a\nb").code == "bad_name"
        assert refused(fields.clean_name, "x" * 201).field == "name"

    def test_user_names(self):
        assert fields.clean_username(" deploy ") == "deploy"
        assert refused(fields.clean_username, "ada:secret").code == "bad_username"
        assert refused(fields.clean_username, "a\nb").field == "username"


def test_since_is_a_moment_of_the_past():
    now = timezone.now()
    assert fields.clean_since(None) is None
    assert fields.clean_since(now) == now
    aware = fields.clean_since(datetime(2026, 1, 1))
    assert aware == timezone.make_aware(datetime(2026, 1, 1))
    assert refused(fields.clean_since, now + timedelta(minutes=1)).code == "bad_since"


def test_a_kind_that_there_is_not():
    assert refused(fields.clean_kind, "svn", "https://svn.example.com/").field == "kind"
