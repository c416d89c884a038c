"""What may be opened: an address in one spelling that leads to the internet, or where the operator
says."""

import pytest

from glossary_site.outbound.allowed import parse_allowed
from glossary_site.outbound.errors import UrlRefused
from glossary_site.outbound.guard import check_url

PUBLIC = "93.184.216.34"


def leads_to(*addresses):
    return lambda host, port: addresses


def refusal(url, **options) -> str:
    with pytest.raises(UrlRefused) as refused:
        check_url(url, **{"resolver": leads_to(PUBLIC), **options})
    assert refused.value.status == 400
    assert str(refused.value).endswith(".")
    return refused.value.code


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("https://api.openai.com/v1", "https://api.openai.com/v1"),
        ("  HTTPS://API.OpenAI.com:443/v1/ ", "https://api.openai.com/v1/"),
        ("http://example.org:80", "http://example.org"),
        ("http://example.org:443/x", "http://example.org:443/x"),
        ("http://example.org.:8000/v1", "http://example.org:8000/v1"),
        ("http://example.org:/v1", "http://example.org/v1"),
        ("https://r.example/openai?api-version=2024-10-21",
         "https://r.example/openai?api-version=2024-10-21"),
        ("https://例え.jp/道", "https://xn--r8jz45g.jp/%E9%81%93"),
        ("https://[2606:2800:0220:0001::0000]/v1", "https://[2606:2800:220:1::]/v1"),
        ("http://my_model:8000/v1", "http://my_model:8000/v1"),
    ],
)  # fmt: skip
def test_there_is_one_spelling(typed, read):
    target = check_url(typed, resolver=leads_to(PUBLIC))
    assert str(target) == read
    assert target.addresses == (PUBLIC,)


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("", "url_invalid"),
        ("example.org/v1", "url_scheme"),
        ("ftp://example.org/", "url_scheme"),
        ("file:///etc/passwd", "url_scheme"),
        ("gopher://example.org:70/", "url_scheme"),
        ("javascript:alert(1)", "url_scheme"),
        ("https://user:secret@example.org/", "url_credentials"),
        ("https://example.org@127.0.0.1/", "url_credentials"),
        ("https://@example.org/", "url_credentials"),
        ("https://example.org/#part", "url_fragment"),
        ("https://example.org:0/", "url_port"),
        ("https://example.org:22/", "url_port"),
        ("https://example.org:25/", "url_port"),
        ("https://example.org:99999/", "url_port"),
        ("https://example.org:http/", "url_port"),
        ("https:///v1", "url_host"),
        ("https://.example.org/", "url_host"),
        ("https://exa mple.org/", "url_invalid"),
        ("https://example.org/\n", None),
        ("https://exam\tple.org/", "url_invalid"),
        ("https://exam\nple.org/", "url_invalid"),
        ("https://example.org\\@127.0.0.1/", "url_invalid"),
        ("https://example%2eorg/", "url_host"),
        ("https://[::1/", "url_invalid"),
        ("https://[fe80::1%25eth0]/", "url_host"),
        ("https://[v1.x]/", "url_host"),
        ("https://" + "a" * 64 + ".org/", "url_host"),
        ("https://" + "a." * 200 + "org/", "url_host"),
        ("https://example.org/" + "x" * 3000, "url_invalid"),
        # Spellings of 127.0.0.1 that some programs read and others do not.
        ("http://2130706433/", "url_host"),
        ("http://0x7f000001/", "url_host"),
        ("http://0x7f.0.0.1/", "url_host"),
        ("http://0177.0.0.1/", "url_host"),
        ("http://127.1/", "url_host"),
        ("http://127.0.0.1.2/", "url_host"),
        ("http://127.0.0.0x1/", "url_host"),
    ],
)  # fmt: skip
def test_what_is_odd_is_refused(url, code):
    if code is None:
        check_url(url, resolver=leads_to(PUBLIC))
    else:
        assert refusal(url) == code


@pytest.mark.parametrize(
    ("typed", "read", "port"),
    [
        ("ssh://git.example/x", "ssh://git.example/x", 22),
        ("ssh://git.example:22/x", "ssh://git.example/x", 22),
        ("ssh://git.example:443/x", "ssh://git.example:443/x", 443),
        ("ssh://git.example:2222/x", "ssh://git.example:2222/x", 2222),
    ],
)
def test_ssh_has_ports_of_its_own(typed, read, port):
    target = check_url(typed, schemes=("ssh",), resolver=leads_to(PUBLIC))
    assert (str(target), target.url.port) == (read, port)


@pytest.mark.parametrize("port", [0, 21, 25, 80, 111, 1023])
def test_ssh_to_the_port_of_another_service(port):
    assert refusal(f"ssh://git.example:{port}/x", schemes=("ssh",)) == "url_port"


def test_ssh_is_opened_only_for_those_who_ask_for_it():
    assert refusal("ssh://git.example/x") == "url_scheme"
    assert refusal("ssh://git.example/x", schemes=("ssh",), resolver=leads_to("10.0.0.1")) == (
        "address_private"
    )


def test_only_the_schemes_that_are_asked_for():
    assert refusal("http://example.org/", schemes=("https",)) == "url_scheme"


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "127.8.8.8", "10.1.2.3", "172.16.0.1", "192.168.0.1", "100.64.0.1", "198.18.0.1",
     "192.0.2.1", "::1", "fd00::1", "fc00::1", "fec0::1", "2001:db8::1",
     # IPv4 inside IPv6: mapped, compatible, 6to4, NAT64.
     "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "2002:7f00:1::", "2002:a00:1::1",
     "64:ff9b::7f00:1", "64:ff9b::10.0.0.1"],
)  # fmt: skip
def test_a_private_network_is_opened_by_the_operator_alone(address, settings):
    url = "http://model.example:8000/v1"
    assert refusal(url, resolver=leads_to(address)) == "address_private"
    assert check_url(url, allow_private=True, resolver=leads_to(address))
    settings.PRIVATE_URLS_ALLOWED = parse_allowed(["model.example:8000"])
    assert check_url(url, resolver=leads_to(address)).addresses == (address,)
    assert refusal("http://model.example:8001/v1", resolver=leads_to(address)) == "address_private"


@pytest.mark.parametrize(
    "address",
    ["0.0.0.0", "0.1.2.3", "169.254.169.254", "169.254.0.1", "224.0.0.1", "240.0.0.1",
     "255.255.255.255", "100.100.100.200", "168.63.129.16", "192.0.0.192", "::", "fe80::1",
     "fe80::1%eth0", "ff02::1", "fd00:ec2::254", "::ffff:169.254.169.254",
     "64:ff9b::169.254.169.254", "2002:a9fe:a9fe::1", "::ffff:0.0.0.0", "::ffff:a9fe:a9fe",
     "2001:0:53aa:64c::1", "100::1", "64:ff9b:1::1"],
)  # fmt: skip
def test_some_addresses_are_never_opened(address, settings):
    settings.PRIVATE_URLS_ALLOWED = parse_allowed(["0.0.0.0/0", "::/0", "model.example"])
    options = {"allow_private": True, "resolver": leads_to(address)}
    assert refusal("http://model.example/", **options) in ("address_forbidden", "address_private")


@pytest.mark.parametrize(
    "address", [PUBLIC, "8.8.8.8", "2606:2800:220:1::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8"]
)
def test_the_internet_is_open(address):
    assert check_url("https://model.example/", resolver=leads_to(address)).addresses == (address,)


@pytest.mark.parametrize(
    "url",
    ["http://localhost/", "http://127.0.0.1/", "http://[::1]/", "http://[::ffff:127.0.0.1]/",
     "http://\uff11\uff12\uff17.\uff10.\uff10.\uff11/", "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/", "http://LOCALHOST./"],
)  # fmt: skip
def test_this_machine_by_any_name_with_the_real_resolver(url):
    with pytest.raises(UrlRefused) as refused:
        check_url(url)
    assert refused.value.code == "address_private"
    assert "GLOSSARY_PRIVATE_URLS_ALLOWED" in str(refused.value)


def test_of_several_addresses_only_the_permitted_ones_are_used(settings):
    both = leads_to("127.0.0.1", PUBLIC, "169.254.169.254")
    assert check_url("http://model.example/", resolver=both).addresses == (PUBLIC,)
    settings.PRIVATE_URLS_ALLOWED = parse_allowed(["127.0.0.0/8"])
    opened = check_url("http://model.example/", resolver=both)
    assert opened.addresses == ("127.0.0.1", PUBLIC)


def test_a_host_without_an_address_is_unknown():
    def fails(host, port):
        raise OSError("no such name")

    assert refusal("http://model.example/", resolver=fails) == "host_unknown"
    assert refusal("http://model.example/", resolver=leads_to()) == "host_unknown"
    with pytest.raises(UrlRefused) as refused:
        check_url("http://model.invalid/")
    assert refused.value.code == "host_unknown"
