"""“Test connection”: what people read of what a repository answers."""

import pytest

from collection.choices import Kind, State
from collection.models import Repository
from collection.origins import opening
from collection.origins.data import OriginProblem, Stopped
from collection.services import checking
from collection.services.checking import check_repository, try_connection
from glossary_site.errors import Refusal
from glossary_site.jobs.models import AuditEntry
from glossary_site.outbound.errors import UrlRefused
from glossary_site.secrets import decrypt, encrypt
from projects.access import OPERATOR
from tests.collection.factories import make_repository
from tests.collection.made import MemoryOrigin

pytestmark = pytest.mark.django_db

ADDRESS = "https://93.184.215.14/team/app.git"


@pytest.fixture
def origin(monkeypatch):
    """Answers for every git address; `opened` are the rows that were asked for."""
    made = MemoryOrigin()
    made.commit({"a.md": "A\n"})
    made.commit({"b.md": "B\n"}, branch="release/1")
    made.opened = []

    def open_origin(repository, *, stopped):
        made.opened.append(repository)
        made.stopped = stopped
        return made

    monkeypatch.setitem(opening.ORIGINS, Kind.GIT, open_origin)
    return made


@pytest.fixture
def repository(project) -> Repository:
    return make_repository(
        project, state=State.NEW, default_branch="", branch_patterns=["HEAD", "rel*"]
    )


class TestARepository:
    def test_what_is_there(self, repository, origin, owner):
        checked = check_repository(repository, actor=owner)
        assert (checked.state, checked.message) == (State.READY, "")
        assert checked.is_usable
        assert checked.branches == ["main", "release/1"]
        assert (checked.default_branch, checked.matching) == ("main", ["main", "release/1"])
        assert origin.closed
        assert origin.asked == ["heads"]
        stored = Repository.objects.get()
        assert (stored.state, stored.default_branch) == (State.READY, "main")
        assert stored.checked_at is not None
        assert stored.branches.count() == 2
        entry = AuditEntry.objects.get(action="test")
        assert (entry.actor, entry.after) == ("olive", {"state": "ready"})

    @pytest.mark.parametrize(
        ("problem", "state", "words"),
        [
            (OriginProblem(State.DENIED, "No entry."), State.DENIED, "No entry."),
            (Stopped(), State.UNREACHABLE, "did not answer within 20 seconds"),
            (UrlRefused("address_private", "A private network."), State.REFUSED, "A private"),
        ],
        ids=["problem", "time", "address"],
    )
    def test_what_is_wrong(self, repository, origin, problem, state, words):
        origin.problems["heads"] = problem
        checked = check_repository(repository, actor=OPERATOR)
        assert checked.state == state
        assert words in checked.message
        assert not checked.is_usable
        assert checked.branches == checked.matching == []
        stored = Repository.objects.get()
        assert (stored.state, stored.state_message) == (state, checked.message)

    def test_a_secret_that_cannot_be_read_any_more(self, repository, monkeypatch):
        repository.secret = "written with a key that is gone"

        def opens(repository, *, stopped):
            decrypt(repository.secret)

        monkeypatch.setitem(opening.ORIGINS, Kind.GIT, opens)
        checked = check_repository(repository, actor=OPERATOR)
        assert checked.state == State.DENIED
        assert "Type it in again" in checked.message

    def test_the_key_of_a_host_that_is_met(self, repository, origin):
        origin.host_keys = "git.example.com ssh-ed25519 AAAA"
        check_repository(repository, actor=OPERATOR)
        assert Repository.objects.get().host_keys == repository.host_keys == origin.host_keys

    def test_time_runs_out(self, repository, origin, monkeypatch):
        monkeypatch.setattr(checking, "SECONDS", -1.0)
        check_repository(repository, actor=OPERATOR)
        assert origin.stopped()

    def test_another_address_was_given_meanwhile(self, repository, origin):
        """The answer is that of the old one: it is shown, and not written down."""
        Repository.objects.update(address=ADDRESS)
        assert check_repository(repository, actor=OPERATOR).state == State.READY
        assert Repository.objects.get().state == State.NEW

    def test_it_was_removed_meanwhile(self, repository, origin):
        Repository.objects.all().delete()
        with pytest.raises(Refusal) as refusal:
            check_repository(repository, actor=OPERATOR)
        assert refusal.value.code == "repository_gone"


class TestOneThatIsNotSaved:
    def test_what_is_there(self, origin, project):
        checked = try_connection(address=ADDRESS, secret="token", branch_patterns=["release/*"])
        assert (checked.state, checked.matching) == (State.READY, ["release/1"])
        (asked,) = origin.opened
        assert (asked.address, decrypt(asked.secret), asked.pk) == (ADDRESS, "token", None)
        assert not Repository.objects.exists()

    def test_what_is_wrong(self, origin):
        origin.problems["heads"] = OriginProblem(State.NOT_FOUND, "There is none.")
        checked = try_connection(address=ADDRESS)
        assert (checked.state, checked.message) == (State.NOT_FOUND, "There is none.")

    def test_what_cannot_be_saved_is_not_asked(self, origin):
        with pytest.raises(Refusal):
            try_connection(address=ADDRESS, branch_patterns=["a..b"])
        assert origin.opened == []

    def test_the_stored_secret_goes_to_its_own_address_only(self, origin, project):
        repository = make_repository(project, address=ADDRESS, secret=encrypt("stored"))
        try_connection(address=ADDRESS, of=repository)
        try_connection(address="https://93.184.215.14/team/other.git", of=repository)
        try_connection(address=ADDRESS, secret="typed", of=repository)
        secrets = [each.secret and decrypt(each.secret) for each in origin.opened]
        assert secrets == ["stored", "", "typed"]
