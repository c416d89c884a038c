import io
import tracemalloc

import pytest
from django.utils import translation

from projects.intake.files import Draft, Incoming, Rejected
from projects.intake.limits import MIB, Limits
from projects.intake.reader import read
from tests.projects.intake.builders import codes, read_all, read_one


@pytest.mark.parametrize(
    ("path", "format"),
    [
        ("a.md", "markdown"),
        ("a.MARKDOWN", "markdown"),
        ("a.mdown", "markdown"),
        ("a.mkd", "markdown"),
        ("a.txt", "text"),
        ("a.Text", "text"),
    ],
)
def test_text_is_kept_as_it_is(path, format):
    text = "# Title  \n\n\n\n* odd   spacing\t\n<b>raw</b> &amp;\n"
    result = read_one(path, text.encode())
    assert result == Draft(path=path, content=text, title="Title", format=format)


def test_every_file_gets_an_answer_in_order():
    results = read_all(
        {
            "a.md": b"# A",
            "b.exe": b"MZ",
            "/c.md": b"# C",
            "d.md": b"",
            "e.md": b"\x00\x01",
            "f.md": b"%PDF-1.7 not a text",
            "g.pdf": b"# not a PDF",
            "h.md": b"   \n\t\n",
            "noext": b"x",
            "i.7z": b"x",
            "z.md": b"# Z",
        }
    )
    assert list(codes(results).items()) == [
        ("a.md", "read"),
        ("b.exe", "unsupported_format"),
        ("/c.md", "path_absolute"),
        ("d.md", "file_empty"),
        ("e.md", "binary_content"),
        ("f.md", "unsupported_format"),
        ("g.pdf", "unsupported_format"),
        ("h.md", "file_empty"),
        ("noext", "unsupported_format"),
        ("i.7z", "unsupported_format"),
        ("z.md", "read"),
    ]
    assert all(r.message for r in results if isinstance(r, Rejected))


def test_a_refused_format_names_the_accepted_ones():
    result = read_one("a.xlsx", b"x")
    assert isinstance(result, Rejected)
    assert ".xlsx" in result.message
    for ending in (".md", ".txt", ".rst", ".html", ".docx", ".pdf", ".zip"):
        assert ending in result.message


def test_a_refused_path_is_safe_to_show():
    result = read_one("a\u202e\ud800\x00.md", b"x")
    assert isinstance(result, Rejected)
    assert result.path == "a<U+202E><U+D800><U+0000>.md"


def test_a_large_file_is_not_read_to_its_end():
    class Endless(io.RawIOBase):
        given = 0

        def readable(self) -> bool:
            return True

        def readinto(self, buffer) -> int:
            Endless.given += len(buffer)
            buffer[:] = b"x" * len(buffer)
            return len(buffer)

    endless = Incoming("big.md", lambda: io.BufferedReader(Endless()))
    results = list(read([endless, Incoming.from_bytes("a.md", b"# A")], Limits(max_file_bytes=MIB)))
    assert codes(results) == {"big.md": "file_too_large", "a.md": "read"}
    assert Endless.given < 1.5 * MIB
    assert isinstance(results[0], Rejected)
    assert "1 MB" in results[0].message


def test_a_file_of_exactly_the_limit_goes_in():
    assert isinstance(read_one("a.md", b"x" * 1000, Limits(max_file_bytes=1000)), Draft)


def test_too_many_files():
    results = read_all({f"{n}.md": b"# x" for n in range(9)}, Limits(max_files=3))
    assert list(codes(results).values()) == ["read"] * 3 + ["too_many_files"]


def test_a_file_that_cannot_be_opened_is_refused_alone():
    def gone():
        raise FileNotFoundError

    results = list(read([Incoming("a.md", gone), Incoming.from_bytes("b.md", b"b")], Limits()))
    assert codes(results) == {"a.md": "conversion_failed", "b.md": "read"}
    assert codes(read([Incoming("a.zip", gone)], Limits())) == {"a.zip": "conversion_failed"}


def test_files_are_opened_one_at_a_time_and_closed():
    opened: list[io.BytesIO] = []

    def opener() -> io.BytesIO:
        assert all(stream.closed for stream in opened)
        opened.append(io.BytesIO(b"# x"))
        return opened[-1]

    reading = read([Incoming(f"{n}.md", opener) for n in range(5)], Limits())
    next(reading)
    assert len(opened) == 1
    list(reading)
    assert len(opened) == 5
    assert all(stream.closed for stream in opened)


def test_memory_does_not_grow_with_the_number_of_files():
    def peak(count: int) -> int:
        def incoming():
            for number in range(count):
                yield Incoming(f"{number}.md", lambda: io.BytesIO(b"# x\n\n" + b"word " * 40_000))

        tracemalloc.start()
        total = sum(len(r.content) for r in read(incoming(), Limits()) if isinstance(r, Draft))
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert total > count * 200_000
        return used

    peak(2)
    assert peak(60) < peak(6) * 1.2


def test_messages_speak_the_reader_s_language():
    with translation.override("ja"):
        results = read_all({"/a.md": b"x", "b.exe": b"x"})
    assert all(isinstance(r, Rejected) and r.message for r in results)
