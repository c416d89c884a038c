"""Real connections: only to addresses that were checked, only to one origin, with the name kept."""

import ssl
import time

import httpx2
import pytest

from glossary_site.outbound import transport
from glossary_site.outbound.allowed import parse_allowed
from glossary_site.outbound.errors import UrlRefused
from glossary_site.outbound.transport import guarded_async_client, guarded_client
from tests.outbound.listeners import certificate, listening

SOON = httpx2.Timeout(5)


class Names:
    """A name server whose answers are lists of addresses, the last one for ever."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = 0

    def __call__(self, host, port):
        self.asked += 1
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.fixture
def loopback_one(settings):
    """127.0.0.1 is open here, as if it were the internet; every other loopback address is not."""
    settings.PRIVATE_URLS_ALLOWED = parse_allowed(["127.0.0.1"])


async def fetch(kind, url, path="/", **options):
    """The same by both clients."""
    if kind == "sync":
        with guarded_client(url, timeout=SOON, **options) as client:
            return client.get(url + path)
    async with guarded_async_client(url, timeout=SOON, **options) as client:
        return await client.get(url + path)


@pytest.fixture(params=["sync", "async"])
def kind(request):
    return request.param


async def test_the_name_stays_in_the_request_and_the_connection_goes_to_the_address(
    kind, loopback_one
):
    with listening() as listener:
        url = listener.url("model.example")
        response = await fetch(kind, url, "/v1/models?a=b", resolver=Names(["127.0.0.1"]))
    assert response.json() == {"ok": True}
    ((method, path, headers),) = listener.seen
    assert (method, path) == ("GET", "/v1/models?a=b")
    assert headers["Host"] == f"model.example:{listener.port}"
    assert headers["Accept-Encoding"] == "identity"


async def test_a_name_server_that_changes_its_mind_reaches_nothing(kind, loopback_one):
    """DNS rebinding: harmless when it is checked, private when it is used."""
    with listening() as outside, listening("127.0.0.2", port=outside.port) as inside:
        url = outside.url("model.example")
        # The guard's question gets the harmless answer, the connection's question the other one.
        names = Names(["127.0.0.1"], ["127.0.0.2"])
        assert transport.Pin(url, allow_private=False, resolver=names).addresses() == ("127.0.0.1",)
        with pytest.raises(UrlRefused) as refused:
            await fetch(kind, url, resolver=names)
        assert refused.value.code == "address_private"
        # Within one request the name is asked for once: what was checked is what is used.
        names = Names(["127.0.0.1"], ["127.0.0.2"])
        await fetch(kind, url, resolver=names)
        assert names.asked == 1
    assert len(outside.seen) == 1
    assert inside.seen == []


async def test_after_a_while_the_name_is_asked_for_and_checked_again(loopback_one, monkeypatch):
    monkeypatch.setattr(transport, "PIN_SECONDS", 0.0)
    names = Names(["127.0.0.1"], ["127.0.0.2"])
    with listening() as outside, listening("127.0.0.2", port=outside.port) as inside:
        url = outside.url("model.example")
        with guarded_client(url, timeout=SOON, resolver=names) as client:
            assert client.get(url).status_code == 200
            with pytest.raises(UrlRefused):
                client.get(url)
    assert inside.seen == []


async def test_many_requests_share_one_answer_and_one_connection(loopback_one):
    names = Names(["127.0.0.1"])
    with listening() as listener:
        url = listener.url("model.example")
        async with guarded_async_client(url, timeout=SOON, resolver=names) as client:
            for _ in range(5):
                assert (await client.get(url)).status_code == 200
    assert names.asked == 1
    assert len(listener.seen) == 5


async def test_redirects_are_not_followed_and_keys_stay_here(kind, loopback_one):
    with listening("127.0.0.2") as inside, listening() as outside:
        outside.status = 307
        outside.headers = {"Location": inside.url() + "/secrets"}
        url = outside.url()
        headers = {"Authorization": "Bearer secret"}
        response = await fetch(kind, url)
        assert response.status_code == 307
        # Even a caller who insists gets no further than this origin.
        with guarded_client(url, timeout=SOON) as client, pytest.raises(UrlRefused) as refused:
            client.get(url, headers=headers, follow_redirects=True)
        assert refused.value.code == "url_elsewhere"
        async with guarded_async_client(url, timeout=SOON) as asynchronous:
            with pytest.raises(UrlRefused):
                await asynchronous.get(url, headers=headers, follow_redirects=True)
    assert inside.seen == []


@pytest.mark.parametrize(
    "other",
    ["http://127.0.0.1:{other}/", "https://127.0.0.1:{port}/", "http://model.example:{port}/",
     "http://[::1]:{port}/"],
)  # fmt: skip
async def test_a_client_speaks_with_one_origin_only(other, loopback_one):
    with listening() as listener:
        url = other.format(port=listener.port, other=listener.port + 1)
        with guarded_client(listener.url(), timeout=SOON) as client:
            with pytest.raises(UrlRefused) as refused:
                client.get(url)
            assert refused.value.code == "url_elsewhere"
            assert client.get(listener.url("127.0.0.1") + "/").status_code == 200
    assert len(listener.seen) == 1


async def test_proxies_of_the_environment_are_not_used(kind, loopback_one, monkeypatch):
    with listening() as listener, listening("127.0.0.2") as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url())
        assert (await fetch(kind, listener.url())).status_code == 200
    assert proxy.seen == []


async def test_ipv6(kind, settings):
    with listening("::1") as listener:
        url = listener.url("[::1]")
        with pytest.raises(UrlRefused):
            await fetch(kind, url)
        settings.PRIVATE_URLS_ALLOWED = parse_allowed([f"[::1]:{listener.port}"])
        assert (await fetch(kind, url)).status_code == 200
        named = listener.url("model.example")
        assert (await fetch(kind, named, resolver=Names(["::1"]))).status_code == 200
    hosts = [headers["Host"] for _method, _path, headers in listener.seen]
    assert hosts == [f"[::1]:{listener.port}", f"model.example:{listener.port}"]


async def test_an_ipv4_address_in_ipv6_clothes_is_the_ipv4_address(loopback_one):
    with listening() as listener:
        url = listener.url("model.example")
        assert (await fetch("sync", url, resolver=Names(["::ffff:127.0.0.1"]))).status_code == 200
        with pytest.raises(UrlRefused):
            await fetch("sync", url, resolver=Names(["::ffff:127.0.0.2"]))


async def test_the_next_address_is_tried_when_one_is_dead(kind, settings):
    settings.PRIVATE_URLS_ALLOWED = parse_allowed(["127.0.0.0/8"])
    with listening() as listener:
        url = listener.url("model.example")
        names = Names(["127.0.0.3", "127.0.0.1"])
        assert (await fetch(kind, url, resolver=names)).status_code == 200
    with pytest.raises(httpx2.ConnectError):
        await fetch(kind, url, resolver=names)
    assert len(listener.seen) == 1


async def test_tls_is_checked_against_the_name(kind, loopback_one, tmp_path):
    server, trusting = certificate(tmp_path, "model.example")
    with listening(tls=server) as listener:
        url = listener.url("model.example", "https")
        options = {"verify": trusting, "resolver": Names(["127.0.0.1"])}
        assert (await fetch(kind, url, **options)).status_code == 200
        assert listener.names[-1] == "model.example"
        with pytest.raises(httpx2.ConnectError) as wrong:
            await fetch(kind, listener.url("other.example", "https"), **options)
        assert isinstance(cause_of(wrong.value), ssl.SSLCertVerificationError)
        with pytest.raises(httpx2.ConnectError):
            await fetch(kind, url, resolver=Names(["127.0.0.1"]))
    assert len(listener.seen) == 1


def cause_of(error):
    while error.__cause__ or error.__context__:
        error = error.__cause__ or error.__context__
    return error


async def test_an_unknown_host_may_be_tried_again(kind):
    with pytest.raises(httpx2.ConnectError):
        await fetch(kind, "http://model.invalid")


async def test_an_answer_without_end_is_cut(kind, loopback_one, monkeypatch):
    monkeypatch.setattr(transport, "MAX_BYTES", 1000)
    with listening() as listener:
        listener.body = b"x" * 1000
        assert len((await fetch(kind, listener.url())).content) == 1000
        listener.body = b"x" * 1001
        with pytest.raises(UrlRefused) as refused:
            await fetch(kind, listener.url())
    assert refused.value.code == "answer_too_large"


async def test_an_answer_that_was_compressed_unasked_is_not_unpacked(kind, loopback_one):
    with listening() as listener:
        listener.headers = {"Content-Encoding": "gzip"}
        with pytest.raises(httpx2.DecodingError):
            await fetch(kind, listener.url())


async def test_a_name_server_that_hangs_is_not_waited_for(loopback_one):
    def hangs(host, port):
        time.sleep(1)
        return ["127.0.0.1"]

    client = guarded_async_client(
        "http://model.example", timeout=httpx2.Timeout(0.1), resolver=hangs
    )
    async with client:
        with pytest.raises(httpx2.ConnectTimeout):
            await client.get("http://model.example/")
