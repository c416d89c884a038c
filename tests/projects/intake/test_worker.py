import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import psutil
import pytest

from projects.intake.errors import Refused
from projects.intake.files import Incoming, Rejected
from projects.intake.limits import MIB, Limits
from projects.intake.reader import read
from projects.intake.worker import ROOT, Converter
from tests.projects.intake.builders import codes

# Half a million tags keep the child busy for many seconds.
SLOW_PAGE = b"<p><b>x</b> <i>y</i></p>" * 150_000
PAGE = b"<h1>Fine</h1>"


def refusal(converter: Converter, format: str, data: bytes) -> Refused:
    with pytest.raises(Refused) as caught:
        converter.convert(format, data)
    return caught.value


def wait_until_gone(pid: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.05)
    return False


def test_one_child_serves_all_files_and_ends_with_them(monkeypatch):
    monkeypatch.setenv("DJANGO_SECRET_KEY", "s3cret")
    with Converter(Limits(max_file_bytes=1000)) as converter:
        assert converter.pid is None
        assert converter.convert("html", PAGE) == "# Fine\n"
        pid = converter.pid
        assert pid is not None
        assert "DJANGO_SECRET_KEY" not in psutil.Process(pid).environ()
        assert refusal(converter, "html", b"<p>" + b"word " * 400).code == "file_too_large"
        assert converter.convert("rst", b"Title\n=====\n") == "# Title\n"
        assert converter.pid == pid
    assert not psutil.pid_exists(pid)


def test_an_upload_that_takes_too_long_comes_to_an_end():
    files = {"a.html": PAGE, "b.html": PAGE, "c.md": b"# Needs no conversion"}
    incoming = [Incoming.from_bytes(path, data) for path, data in files.items()]
    results = list(read(incoming, Limits(conversion_total_seconds=0.001)))
    assert codes(results) == {"a.html": "read", "b.html": "conversion_timeout", "c.md": "read"}


def test_a_file_that_takes_too_long_is_given_up_alone():
    files = {"a.html": PAGE, "b.html": SLOW_PAGE, "c.html": PAGE}
    incoming = [Incoming.from_bytes(path, data) for path, data in files.items()]
    results = list(read(incoming, Limits(conversion_seconds=2.5)))
    assert codes(results) == {"a.html": "read", "b.html": "conversion_timeout", "c.html": "read"}
    assert isinstance(results[1], Rejected)
    assert "2.5 seconds" in results[1].message


def test_a_crash_costs_one_file():
    with Converter(Limits()) as converter:
        converter.convert("html", PAGE)
        pid = converter.pid
        assert pid is not None
        threading.Timer(0.4, os.kill, [pid, signal.SIGKILL]).start()
        assert refusal(converter, "html", SLOW_PAGE).code == "conversion_failed"

        assert converter.convert("html", PAGE) == "# Fine\n"
        pid = converter.pid
        assert pid is not None
        # A child that dies between two files is replaced unnoticed.
        os.kill(pid, signal.SIGKILL)
        assert wait_until_gone(pid, 5)
        assert converter.convert("html", PAGE) == "# Fine\n"


def test_too_much_memory_and_odd_files_are_refusals_not_crashes():
    with Converter(Limits(conversion_memory_bytes=64 * MIB)) as converter:
        assert converter.convert("html", b"<div>" * 400 + b"deep") == "deep\n"
        refused = refusal(converter, "html", b"<i>x" * 300_000)
        assert refused.code == "conversion_failed"
        assert "64 MB" in refused.message
        refused = refusal(converter, "html", b"<div>" * 2500)
        assert refused.code == "conversion_failed"
        assert "nested" in refused.message
        assert refusal(converter, "unheard-of", b"x").code == "conversion_failed"


def test_a_reader_that_is_left_early_leaves_no_child():
    # Other tests of this process may have children that live on.
    before = set(psutil.Process().children())
    reading = read([Incoming.from_bytes(f"{n}.html", PAGE) for n in range(3)], Limits())
    next(reading)
    (child,) = set(psutil.Process().children()) - before
    reading.close()
    assert not psutil.pid_exists(child.pid)


def test_the_child_does_not_load_django():
    modules = ("child", "html", "rst", "docx", "pdf")
    imports = "; ".join(f"import projects.intake.convert.{name}" for name in modules)
    check = f"import sys; {imports}; sys.exit(any(m.startswith('django') for m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", check], cwd=ROOT, check=False).returncode == 0


@pytest.mark.parametrize("busy", [False, True])
def test_no_orphan_when_the_parent_is_killed(busy):
    """Idle, the child sees the end of its pipe; busy, its own alarm ends it."""
    script = textwrap.dedent(
        f"""
        import threading
        from projects.intake.limits import Limits
        from projects.intake.worker import Converter

        converter = Converter(Limits(conversion_seconds=1.5))
        converter.convert("html", b"<h1>x</h1>")
        print(converter.pid, flush=True)
        if {busy}:
            converter.convert("html", b"<p><b>x</b> <i>y</i></p>" * 200_000)
        threading.Event().wait()
        """
    )
    parent = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    if busy:
        time.sleep(0.5)
    assert psutil.pid_exists(child)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert wait_until_gone(child, 8)
