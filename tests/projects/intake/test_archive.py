import io
import stat
import time
import tracemalloc
import zipfile

import pytest

from projects.intake.files import Draft, Incoming, Rejected
from projects.intake.limits import MIB, Limits
from projects.intake.reader import read
from tests.projects.intake.builders import (
    codes,
    make_docx,
    make_zip,
    read_all,
    read_one,
    zip_of_copies,
    zip_with_raw_name,
)


def test_members_are_read_where_the_archive_stands():
    data = make_zip({"a.md": "# A", "sub/b.txt": "b", "sub/": b"", "文書/c.md": "# C"})
    results = read_all({"docs/all.zip": data})
    assert codes(results) == {
        "docs/a.md": "read",
        "docs/sub/b.txt": "read",
        "docs/文書/c.md": "read",
    }
    assert codes(read_all({"all.zip": data})).keys() == {"a.md", "sub/b.txt", "文書/c.md"}


def test_what_systems_leave_behind_is_passed_over():
    data = make_zip(
        {
            "__MACOSX/._a.md": b"\x00",
            "a.md": "# A",
            "x/.DS_Store": b"\x00",
            "x/Thumbs.db": b"\x00",
            "._b.md": b"\x00",
        }
    )
    assert codes(read_all({"a.zip": data, ".DS_Store": b"\x00"})) == {"a.md": "read"}


def test_a_bad_member_does_not_stop_the_good_ones():
    data = make_zip(
        {
            "good.md": "# 1",
            "../up.md": "x",
            "/etc/abs.md": "x",
            "C:\\x.md": "x",
            ".env": "SECRET=1",
            "empty.md": "",
            "binary.md": b"\x00\x01\x02",
            "picture.png": b"x",
            "inner.zip": b"PK\x03\x04",
            "inner.tar.gz": b"x",
            "disguised.md": b"PK\x03\x04 more",
            "last.md": "# 2",
        }
    )
    assert codes(read_all({"a.zip": data})) == {
        "good.md": "read",
        "../up.md": "path_parent",
        "/etc/abs.md": "path_absolute",
        "C:\\x.md": "path_absolute",
        ".env": "path_secret",
        "empty.md": "file_empty",
        "binary.md": "binary_content",
        "picture.png": "unsupported_format",
        "inner.zip": "archive_nested",
        "inner.tar.gz": "archive_nested",
        "disguised.md": "unsupported_format",
        "last.md": "read",
    }


@pytest.mark.parametrize("encoding", ["cp932", "utf-8"])
@pytest.mark.parametrize("name", ["表示テスト.md", "ソース能力/用語集.md"])
def test_names_from_japanese_windows_and_from_unix(name, encoding):
    # 表, ソ and 能 have a backslash as their second byte in Shift_JIS.
    result = read_one("a.zip", zip_with_raw_name(name.encode(encoding), b"# x"))
    assert isinstance(result, Draft)
    assert result.path == name


def test_a_name_repeated_in_utf8_wins():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        info = zipfile.ZipInfo("plain.md")
        name = "はじめに.md".encode()
        crc = zipfile.crc32(b"plain.md").to_bytes(4, "little")
        field = b"\x01" + crc + name
        info.extra = b"\x75\x70" + len(field).to_bytes(2, "little") + field
        archive.writestr(info, "# x")
    assert codes(read_all({"a.zip": buffer.getvalue()})) == {"はじめに.md": "read"}


def test_links_and_locked_files_are_refused():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        link = zipfile.ZipInfo("link.md")
        link.create_system = 3
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("ok.md", "# ok")
    results = read_all({"a.zip": buffer.getvalue()})
    assert codes(results) == {"link.md": "unsupported_format", "ok.md": "read"}
    locked = read_one("b.zip", zip_with_raw_name(b"locked.md", b"x" * 50, encrypted=True))
    assert isinstance(locked, Rejected)
    assert locked.code == "archive_encrypted"


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_only_ordinary_compression_is_unpacked(method):
    result = read_one("a.zip", make_zip({"a.md": "# x"}, method))
    assert isinstance(result, Rejected)
    assert result.code == "archive_broken"


@pytest.mark.parametrize(
    "data",
    [b"", b"no zip at all", b"PK\x03\x04 cut off", make_zip({"a.md": "x"})[:-30]],
    ids=["empty", "no zip", "cut off", "without its directory"],
)
def test_a_broken_archive_is_one_refusal(data):
    result = read_one("folder/a.zip", data)
    assert isinstance(result, Rejected)
    assert (result.path, result.code) == ("folder/a.zip", "archive_broken")


def test_a_damaged_member_is_refused_alone():
    data = bytearray(make_zip({"a.md": "# first " * 50, "b.md": "# second"}, zipfile.ZIP_STORED))
    data[60] ^= 0xFF
    assert codes(read_all({"x.zip": bytes(data)})) == {"a.md": "archive_broken", "b.md": "read"}


def test_a_word_document_under_another_name():
    result = read_one("a.zip", make_docx())
    assert isinstance(result, Rejected)
    assert result.code == "unsupported_format"
    assert ".docx" in result.message


def test_a_bomb_of_a_few_kilobytes_is_defused():
    """4 GB in all, from one packed file that 400 entries share."""
    bomb = zip_of_copies("a.txt", b"\n" * 10 * MIB, copies=400)
    assert len(bomb) < 50_000
    start = time.monotonic()
    tracemalloc.start()
    results = read_all({"bomb.zip": bomb, "good.md": b"# good"})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert {r.code for r in results if isinstance(r, Rejected)} == {"archive_ratio"}
    assert isinstance(results[-1], Draft)
    assert peak < 10 * MIB
    assert time.monotonic() - start < 10


def test_the_sum_of_all_members_is_limited_and_what_was_read_stays():
    limits = Limits(max_archive_bytes=3 * MIB, max_archive_ratio=10**6)
    files: dict[str, bytes | str] = {f"{n}.txt": b"text\n" * (MIB // 5) for n in range(10)}
    results = read_all({"a.zip": make_zip(files), "b.md": b"# b"}, limits)
    assert codes(results) == {
        "0.txt": "read",
        "1.txt": "read",
        "2.txt": "read",
        "3.txt": "archive_too_large",
        "b.md": "read",
    }


def test_the_ratio_counts_for_each_member_and_for_the_whole():
    limits = Limits(max_archive_ratio=50)
    data = make_zip({"trap.txt": b"\n" * 3 * MIB, "fine.md": "# fine"})
    assert codes(read_all({"a.zip": data}, limits)) == {
        "trap.txt": "archive_ratio",
        "fine.md": "read",
    }
    shared = zip_of_copies("a.txt", b"0123456789\n" * 90_000, copies=30)
    results = read_all({"a.zip": shared}, Limits(max_archive_ratio=300))
    assert [isinstance(r, Draft) for r in results].count(False) == 1
    assert isinstance(results[-1], Rejected)


def test_a_member_over_the_limit_for_one_file():
    limits = Limits(max_file_bytes=1000)
    data = make_zip({"big.md": "x" * 2000, "small.md": "x"})
    assert codes(read_all({"a.zip": data}, limits)) == {
        "big.md": "file_too_large",
        "small.md": "read",
    }


def test_an_archive_with_too_many_files():
    data = make_zip({f"{n}.md": "# x" for n in range(20)})
    results = read_all({"a.zip": data}, Limits(max_files=5))
    assert [isinstance(r, Draft) for r in results] == [True] * 5 + [False]
    assert isinstance(results[-1], Rejected)
    assert results[-1].code == "too_many_files"


def test_a_directory_of_millions_is_not_even_listed():
    data = zip_of_copies("a" * 200, b"x", copies=20_000)
    result = read_one("a.zip", data, Limits(max_files=10))
    assert isinstance(result, Rejected)
    assert (result.path, result.code) == ("a.zip", "too_many_files")


def test_a_stream_that_cannot_seek_is_put_aside_first():
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def seek(self, *args: int) -> int:
            raise io.UnsupportedOperation

    data = make_zip({"a.md": "# A"})
    results = list(read([Incoming("a.zip", lambda: Pipe(data))], Limits()))
    assert codes(results) == {"a.md": "read"}
    small = Limits(max_archive_bytes=10)
    results = list(read([Incoming("a.zip", lambda: Pipe(data))], small))
    assert codes(results) == {"a.zip": "archive_too_large"}
