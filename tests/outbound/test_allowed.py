from ipaddress import ip_address

import pytest

from glossary_site.outbound.allowed import parse_allowed


@pytest.mark.parametrize(
    ("entry", "host", "port", "address", "covered"),
    [
        ("localhost", "localhost", 11434, "127.0.0.1", True),
        ("localhost", "localhost", 11434, "10.0.0.1", True),
        ("LocalHost.", "localhost", 80, "127.0.0.1", True),
        ("localhost", "127.0.0.1", 80, "127.0.0.1", False),
        ("localhost:11434", "localhost", 11434, "127.0.0.1", True),
        ("localhost:11434", "localhost", 6379, "127.0.0.1", False),
        ("127.0.0.1", "localhost", 80, "127.0.0.1", True),
        ("127.0.0.1", "localhost", 80, "127.0.0.2", False),
        ("192.168.1.0/24", "box", 80, "192.168.1.77", True),
        ("192.168.1.0/24", "box", 80, "192.168.2.77", False),
        ("192.168.1.0/24:8000", "box", 8000, "192.168.1.77", True),
        ("192.168.1.0/24:8000", "box", 8001, "192.168.1.77", False),
        ("::1", "localhost", 80, "::1", True),
        ("::1", "localhost", 80, "127.0.0.1", False),
        ("fd00::/8", "box", 80, "fd00::5", True),
        ("[fd00::/8]", "box", 80, "fd00::5", True),
        ("[fd00::/8]:8000", "box", 8000, "fd00::5", True),
        ("[fd00::/8]:8000", "box", 80, "fd00::5", False),
        ("my_ollama", "my_ollama", 80, "172.18.0.2", True),
    ],
)
def test_an_entry_covers_what_it_names(entry, host, port, address, covered):
    (allowed,) = parse_allowed([entry])
    assert allowed.covers(host, port, ip_address(address)) is covered


@pytest.mark.parametrize(
    "entry",
    ["192.168.1.5/24", "300.1.1.1", "http://localhost", "a b", "localhost:0", "localhost:70000",
     "[::1", "-x", "localhost:", "10.0.0"],
)  # fmt: skip
def test_what_is_no_entry_is_named(entry):
    with pytest.raises(ValueError) as error:
        parse_allowed(["localhost", entry])
    assert entry in str(error.value)


def test_blanks_between_commas_mean_nothing():
    assert parse_allowed(["", " "]) == ()
