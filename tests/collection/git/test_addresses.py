"""What people type as the address of a repository, and what is refused."""

import os

import pytest

from collection.choices import Kind
from collection.origins.data import OriginProblem
from collection.origins.git.addresses import clean_address, clean_local, clean_remote, guess_kind
from collection.origins.git.origin import GitOrigin
from glossary_site.errors import Refusal
from glossary_site.outbound.allowed import parse_allowed
from tests.collection.git.building import git, make_source

PUBLIC = "93.184.216.34"


@pytest.fixture
def internet(monkeypatch):
    """Every name leads to a public address, without asking anybody."""

    def getaddrinfo(host, port, **options):
        address = host if host[0].isdigit() or ":" in host else PUBLIC
        return [(2, 1, 6, "", (address, port))]

    monkeypatch.setattr("glossary_site.outbound.guard.socket.getaddrinfo", getaddrinfo)


def refusal(clean, *arguments) -> Refusal:
    with pytest.raises(Refusal) as refused:
        clean(*arguments)
    assert refused.value.status == 400
    assert str(refused.value).endswith(".")
    return refused.value


@pytest.mark.usefixtures("internet")
@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("https://github.com/owner/name", "https://github.com/owner/name"),
        (" HTTPS://GitHub.com:443/owner/name.git/ ", "https://github.com/owner/name.git"),
        ("http://example.org:8080/x", "http://example.org:8080/x"),
        ("https://example.org/グループ/x", "https://example.org/"
         "%E3%82%B0%E3%83%AB%E3%83%BC%E3%83%97/x"),
        ("git@github.com:owner/name.git", "ssh://git@github.com/owner/name.git"),
        ("github.com:owner/name.git", "ssh://git@github.com/owner/name.git"),
        ("deploy@example.org:/srv/x.git", "ssh://deploy@example.org/srv/x.git"),
        ("ssh://example.org/x", "ssh://git@example.org/x"),
        ("SSH://me@Example.org:22/x/", "ssh://me@example.org/x"),
        ("ssh://git@example.org:2222/x", "ssh://git@example.org:2222/x"),
        ("ssh://git@ssh.github.com:443/o/n.git", "ssh://git@ssh.github.com:443/o/n.git"),
        ("ssh://git@example.org/~/x.git", "ssh://git@example.org/~/x.git"),
        ("ssh://git@[2606:2800:220:1::1]/x", "ssh://git@[2606:2800:220:1::1]/x"),
        ("git@[2606:2800:220:1::1]:x", "ssh://git@[2606:2800:220:1::1]/x"),
    ],
)  # fmt: skip
def test_an_address_has_one_spelling(typed, read):
    assert guess_kind(typed) is Kind.GIT
    assert clean_remote(typed) == read
    assert clean_address(Kind.GIT, read) == read


@pytest.mark.usefixtures("internet")
@pytest.mark.parametrize(
    "typed",
    [
        "",
        "name",
        "ext::sh -c touch% /tmp/x",
        "ext::sh",
        "fd::17",
        "::x",
        "https::https://example.org/x",
        "--upload-pack=touch /tmp/x",
        "--upload-pack=x:y",
        "-oProxyCommand=x:y",
        "git@host:-oProxyCommand=x",
        "git@-oProxyCommand=x:y",
        "-u@host:x",
        "ssh://-oProxyCommand=x/",
        "ssh://-oProxyCommand=x/y",
        "ssh://git@-oProxyCommand=x/y",
        "ssh://-oProxyCommand=x@host/y",
        "ssh://git@host/-x",
        "ssh://git@host/a/%2dx",
        "ssh://git:secret@host/x",
        "ssh://a@b@host/x",
        "ssh://git@host",
        "ssh://git@host/",
        "ssh://git@host:25/x",
        "ssh://git@host/x?y",
        "ssh://git@host/x#y",
        "ssh://git@host/a%0ab",
        "ssh://git@host/a%00b",
        "file:///etc",
        "file://example.org/x",
        "git://example.org/x",
        "ftp://example.org/x",
        "https://user:secret@example.org/x",
        "https://token@example.org/x",
        "https://example.org/path?x#y",
        "https://example.org/path?x",
        "https://example.org/path#y",
        "https://example.org/a/../b",
        "https://example.org/a/%2e%2e/b",
        "https://example.org//b",
        "https://example.org",
        "https://example.org/",
        "https://example.org:22/x",
        "https://example.org/x\ny",
        "https://example.org/x\0y",
        "https://example.org\\@127.0.0.1/x",
        "git@host:x\ny",
        "git@host:x\0y",
        "git@127.1:x",
        "https://example.org/" + "x" * 1500,
    ],
)
def test_what_is_odd_is_refused(typed):
    refusal(clean_remote, typed)


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.1", "169.254.169.254"])
@pytest.mark.parametrize("form", ["https://{}/x", "http://{}:8080/x", "ssh://git@{}/x", "git@{}:x"])
def test_a_private_network_is_opened_by_the_operator_alone(form, address, settings):
    typed = form.format(address)
    assert refusal(clean_remote, typed).code in ("address_private", "address_forbidden")
    settings.PRIVATE_URLS_ALLOWED = parse_allowed(["127.0.0.0/8", "10.0.0.0/8", "169.254.0.0/16"])
    if address.startswith("169"):
        assert refusal(clean_remote, typed).code == "address_forbidden"
    else:
        assert address in clean_remote(typed)


def test_a_folder_below_a_root(source, tmp_path):
    assert clean_local(str(source.path)) == str(source.path)
    assert clean_local(f"{source.path}/") == str(source.path)
    assert clean_address(Kind.LOCAL, f"file://{source.path}") == str(source.path)
    assert guess_kind(f"file://{source.path}") is Kind.LOCAL
    assert guess_kind(f" {source.path}") is Kind.LOCAL
    odd = make_source(tmp_path / "sources" / "名 前's")
    assert clean_local(str(odd.path)) == str(odd.path)
    assert clean_local("file://" + str(odd.path).replace(" ", "%20")) == str(odd.path)


def test_a_checkout_and_another_of_its_worktrees(tmp_path):
    checkout = tmp_path / "sources" / "checkout"
    checkout.mkdir(parents=True)
    git(checkout, "init", "--quiet", "--initial-branch=main")
    git(checkout, "commit", "--quiet", "--allow-empty", "--message=x")
    git(checkout, "worktree", "add", "--quiet", "../tree", "-b", "other")
    assert clean_local(str(checkout)) == str(checkout)
    assert clean_local(str(tmp_path / "sources" / "tree")) == str(tmp_path / "sources" / "tree")


def test_where_there_is_no_repository(tmp_path, source):
    (tmp_path / "sources" / "empty").mkdir()
    for path in (tmp_path / "sources" / "empty", tmp_path / "sources" / "none"):
        refused = refusal(clean_local, str(path))
        assert refused.code == "not_a_repository"
        assert str(path) in str(refused)


@pytest.mark.parametrize("path", ["relative", "../x", "", "~/x", "/x\ny", "/x\0y", "file://host/x"])
def test_a_path_that_is_none(path):
    assert refusal(clean_local, path).code == "address_invalid"


class TestLeavingTheRoots:
    @pytest.fixture
    def outside(self, tmp_path):
        return make_source(tmp_path / "elsewhere.git").path

    def code(self, path) -> str:
        refused = refusal(clean_local, str(path))
        assert "GLOSSARY_GIT_ROOTS" in str(refused)
        return refused.code

    def test_by_name(self, outside, tmp_path, source):
        assert self.code(outside) == "repository_not_allowed"
        assert self.code(f"file://{outside}") == "repository_not_allowed"
        assert self.code(f"{source.path}/../../elsewhere.git") == "repository_not_allowed"
        # Nor is it told what is there.
        assert self.code("/etc") == self.code("/no/such/folder") == "repository_not_allowed"
        # A name that only begins like that of a root.
        beside = make_source(tmp_path / "sources-too" / "x.git")
        assert self.code(beside.path) == "repository_not_allowed"

    def test_by_a_link(self, outside, tmp_path, source):
        link = tmp_path / "sources" / "link.git"
        link.symlink_to(outside)
        assert self.code(link) == "repository_not_allowed"

    def test_by_a_file_that_names_another_folder(self, outside, tmp_path, source):
        checkout = tmp_path / "sources" / "checkout"
        checkout.mkdir()
        (checkout / ".git").write_text(f"gitdir: {outside}\n")
        assert self.code(checkout) == "repository_not_allowed"

    def test_by_a_shared_folder(self, outside, tmp_path, source):
        tree = tmp_path / "sources" / "tree.git"
        tree.mkdir()
        (tree / "HEAD").write_text("ref: refs/heads/main\n")
        (tree / "commondir").write_text(f"{outside}\n")
        assert self.code(tree) == "repository_not_allowed"

    @pytest.mark.parametrize("lines", ["{}\n", "# note\n{}\n", "{}"])
    def test_by_borrowed_objects(self, outside, source, lines):
        (source.path / "objects" / "info").mkdir(exist_ok=True)
        (source.path / "objects" / "info" / "alternates").write_text(
            lines.format(outside / "objects")
        )
        assert self.code(source.path) == "repository_not_allowed"

    def test_by_objects_that_are_a_link(self, outside, source):
        os.rename(source.path / "objects", source.path / "old")
        (source.path / "objects").symlink_to(outside / "objects")
        assert self.code(source.path) == "repository_not_allowed"

    @pytest.mark.parametrize(
        ("line", "link"),
        [
            # Git takes the quotes off, and nothing else.
            ('"{}"\n', ""),
            ("x \n", "x "),
            (" #x\n", " #x"),
            ("x\r\n", "x\r"),
            ("x\fy\n", "x\fy"),
            ("x" * 100_000 + "\n{}\n", ""),
        ],
        ids=["quotes", "blank", "no-note", "return", "feed", "far"],
    )
    def test_by_borrowed_objects_that_git_reads_in_another_way(self, outside, source, line, link):
        objects = source.path / "objects"
        (objects / "x").mkdir()
        if link:
            (objects / link).symlink_to(outside / "objects")
        (objects / "info").mkdir(exist_ok=True)
        (objects / "info" / "alternates").write_text(line.format(outside / "objects"), newline="\n")
        assert refusal(clean_local, str(source.path)).code == "repository_not_allowed"

    @pytest.mark.parametrize("text", ["../good\nx\n", "\n../good\n", " ../good\n"])
    def test_by_a_shared_folder_that_git_reads_in_another_way(self, outside, source, text):
        tree = source.path.parent / "tree.git"
        tree.mkdir()
        (source.path.parent / "good").symlink_to(source.path)
        (source.path.parent / "good\nx").symlink_to(outside)
        (tree / "HEAD").write_text("ref: refs/heads/main\n")
        (tree / "commondir").write_text(text)
        assert refusal(clean_local, str(tree)).code == "repository_not_allowed"

    def test_by_a_pipe_that_says_something_else_each_time(self, source):
        (source.path / "objects" / "info").mkdir(exist_ok=True)
        os.mkfifo(source.path / "objects" / "info" / "alternates")
        assert refusal(clean_local, str(source.path)).code == "repository_not_allowed"

    @pytest.mark.parametrize("link", ["ab", "ab/cd", "pack/pack-x.pack"])
    def test_by_a_link_among_the_objects(self, outside, source, link):
        path = source.path / "objects" / link
        path.parent.mkdir(exist_ok=True)
        path.symlink_to(outside / "objects" / link)
        assert self.code(source.path) == "repository_not_allowed"

    @pytest.mark.parametrize("beside", ["x", "x.git"])
    def test_by_a_repository_that_git_would_take_instead(self, tmp_path, repository, beside):
        """What looks like one to us and not to git makes git look around."""
        secret = make_source(tmp_path / "elsewhere.git")
        secret.commit("main", {"a": b"1\n"})
        secret.write()
        sources = tmp_path / "sources"
        seeming = make_source(sources / "x" / (".git" if beside == "x" else ""))
        (seeming.path / "HEAD").write_text("nonsense\n")
        if beside == "x":
            for name in ("HEAD", "objects", "refs"):
                (sources / beside / name).symlink_to(secret.path / name)
        else:
            (sources / beside).symlink_to(secret.path)
        repository.address = str(sources / "x")
        with GitOrigin(repository) as origin, pytest.raises(OriginProblem):
            origin.heads()

    def test_with_no_roots_at_all(self, source, settings):
        settings.GIT_ROOTS = []
        assert self.code(source.path) == "repository_not_allowed"


def test_borrowing_below_a_root_is_fine(source, tmp_path):
    other = make_source(tmp_path / "sources" / "other.git")
    (source.path / "objects" / "info").mkdir(exist_ok=True)
    (source.path / "objects" / "info" / "alternates").write_text("../../other.git/objects\n")
    assert clean_local(str(source.path)) == str(source.path)
    # In a circle it does not go on for ever.
    (other.path / "objects" / "info").mkdir(exist_ok=True)
    (other.path / "objects" / "info" / "alternates").write_text("../../one.git/objects\n")
    assert refusal(clean_local, str(source.path)).code == "repository_not_allowed"
