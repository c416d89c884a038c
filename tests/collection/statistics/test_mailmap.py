"""The mail map as git itself reads it, and what becomes of it in a project."""

import subprocess

import pytest

from collection.identities import Identity, People
from collection.models import Author, AuthorAlias
from collection.services.authors import merge_authors, split_identity, take_mailmap
from collection.services.mailmap import MailMap
from projects.access import OPERATOR
from tests.collection.factories import make_branch, make_commit, make_repository

MAPS = {
    "all four forms": """
# Whoever
Proper Ada <ada@old.example>
<bob@new.example> <bob@old.example>
Proper Cy <cy@new.example> <cy@old.example>
Proper Dee <dee@new.example> Dee of Old <shared@example.com>
Proper Eve <eve@new.example> Eve of Old <shared@example.com>
""",
    "letters": """
Proper Ada <ADA@Old.example>
Proper Dee <dee@new.example> dEE OF old <SHARED@example.com>
Größe <groesse@new.example> ÄRGER <ärger@example.com>
""",
    "two lines about one address": """
First <ada@old.example>
Second <ada@old.example>
<ada@new.example> <ada@old.example>
Everybody <bob@old.example>
Only Bob <only@new.example> Bob <bob@old.example>
""",
    "odd lines": """
 # indented, so no comment: # <ada@old.example>
#Hidden <bob@old.example>
nobody
No End <cy@old.example
<> <cy@old.example>
Nobody <>
\tTabs and spaces  \t <  cy@old.example>
Far <far@new.example>Near<shared@example.com> and the rest <ignored@example.com>
Empty <empty@new.example> <>
Back <back@new.example>   Dee of Old   <shared@example.com>\r
""",
    "nothing": "",
}
IDENTITIES = [
    Identity(name, email)
    for name in ("Ada", "Bob", "Dee of Old", "EVE OF OLD", "Near", "ÄRGER", "ärger", "x")
    for email in (
        "ada@old.example",
        "Bob@OLD.example",
        "cy@old.example",
        "  cy@old.example",
        "shared@example.com",
        "ärger@example.com",
        "other@example.com",
    )
]


@pytest.mark.parametrize("text", MAPS.values(), ids=MAPS.keys())
def test_as_git_reads_it(text, tmp_path):
    run = {"cwd": tmp_path, "check": True, "capture_output": True}
    subprocess.run(["git", "init", "-q"], **run)
    (tmp_path / ".mailmap").write_bytes(text.encode())
    asked = "\n".join(map(str, IDENTITIES)).encode()
    said = subprocess.run(["git", "check-mailmap", "--stdin"], input=asked, **run).stdout
    ours = [str(MailMap(text).proper(identity)) for identity in IDENTITIES]
    assert ours == said.decode().splitlines()


@pytest.mark.django_db
class TestTaking:
    """One repository's map, beside others and beside what people say."""

    ADA, OLD, HOME = (
        Identity("Ada", "ada@example.com"),
        Identity("ada", "ada@old.example"),
        Identity("A.", "ada@home.example"),
    )

    @pytest.fixture
    def commits(self, main):
        for identity in (self.ADA, self.OLD, self.HOME):
            make_commit(main, author_name=identity.name, author_email=identity.email)

    def person(self, project, identity):
        return People.of(project).person(identity)

    def test_takes_the_place_of_what_it_said_before(self, project, repository, commits):
        text = "Ada <ada@example.com> <ada@old.example>\n"
        assert take_mailmap(repository=repository, text=text) == 1
        assert self.person(project, self.OLD) == self.ADA
        assert self.person(project, self.HOME) == self.HOME
        text = "Ada <ada@example.com> <ada@home.example>\n"
        assert take_mailmap(repository=repository, text=text) == 1
        assert self.person(project, self.OLD) == self.OLD
        assert self.person(project, self.HOME) == self.ADA
        assert take_mailmap(repository=repository, text="") == 0
        assert self.person(project, self.HOME) == self.HOME

    def test_nothing_new_writes_nothing(
        self, project, repository, commits, django_assert_max_num_queries
    ):
        text = "Ada <ada@example.com> <ada@old.example>\n"
        take_mailmap(repository=repository, text=text)
        before = list(AuthorAlias.objects.values_list("pk", flat=True))
        with django_assert_max_num_queries(8):
            take_mailmap(repository=repository, text=text)
        assert list(AuthorAlias.objects.values_list("pk", flat=True)) == before

    def test_people_win(self, project, repository, commits):
        bob = Identity("Bob", "bob@example.com")
        make_commit(repository.branches.get(), author_name="Bob", author_email="bob@example.com")
        merge_authors(project=project, into=bob, identities=[self.OLD], actor=OPERATOR)
        take_mailmap(repository=repository, text="Ada <ada@example.com> <ada@old.example>\n")
        assert self.person(project, self.OLD) == bob

    def test_a_split_holds_against_the_map(self, project, repository, commits):
        text = "Ada <ada@example.com> <ada@old.example>\n"
        take_mailmap(repository=repository, text=text)
        split_identity(project=project, identity=self.OLD, actor=OPERATOR)
        take_mailmap(repository=repository, text=text)
        assert self.person(project, self.OLD) == self.OLD

    def test_the_person_it_names_may_be_merged_into_another(self, project, repository, commits):
        merge_authors(project=project, into=self.HOME, identities=[self.ADA], actor=OPERATOR)
        take_mailmap(repository=repository, text="Ada <ada@example.com> <ada@old.example>\n")
        assert self.person(project, self.OLD) == self.HOME

    def test_two_repositories_do_not_take_turns(self, project, repository, commits):
        other = make_repository(project, "other")
        make_commit(make_branch(other), author_name="ada", author_email="ada@old.example")
        take_mailmap(repository=repository, text="Ada <ada@example.com> <ada@old.example>\n")
        assert take_mailmap(repository=other, text="Else <else@example.com> <ada@old.example>") == 0
        assert take_mailmap(repository=other, text="") == 0
        assert self.person(project, self.OLD) == self.ADA

    def test_goes_with_its_repository(self, project, repository, commits):
        take_mailmap(repository=repository, text="Ada <ada@example.com> <ada@old.example>\n")
        repository.delete()
        assert self.person(project, self.OLD) == self.OLD

    def test_names_that_do_not_fit_are_left(self, project, repository, commits):
        assert take_mailmap(repository=repository, text=f"{'A' * 300} <ada@old.example>\n") == 0
        assert not Author.objects.exists()
