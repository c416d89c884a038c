"""The peer's files and batches, as the real client sees them."""

import json
import time

import openai
import pytest

from tests.llm.clients import openai_client
from tests.llm_server import CHAT, running_server, server_process


@pytest.fixture
def client(llm_server):
    with openai_client(llm_server.base_url) as client:
        yield client


def line(name, **changes):
    body = {"model": "peer-small", "messages": [{"role": "user", "content": f"about {name}"}]}
    return {"custom_id": name, "method": "POST", "url": CHAT, "body": body, **changes}


def upload(client, lines):
    content = "\n".join(each if isinstance(each, str) else json.dumps(each) for each in lines)
    return client.files.create(file=("in.jsonl", content.encode()), purpose="batch")


def create(client, names="abcde", lines=None, **options):
    file = upload(client, lines if lines is not None else [line(name) for name in names])
    return client.batches.create(
        input_file_id=file.id, endpoint=CHAT, completion_window="24h", **options
    )


def contents(client, file_id):
    """The lines of a file by custom id; none for no file."""
    text = client.files.content(file_id).text if file_id else ""
    answers = [json.loads(each) for each in text.splitlines()]
    return {answer["custom_id"]: answer for answer in answers}


def test_files_are_kept_until_they_are_deleted(client):
    file = upload(client, [line("a"), "日本語"])
    assert (file.purpose, file.filename) == ("batch", "in.jsonl")
    assert client.files.retrieve(file.id).bytes == file.bytes
    assert client.files.content(file.id).text.endswith("日本語")
    assert [each.id for each in client.files.list(purpose="batch")] == [file.id]
    assert list(client.files.list(purpose="batch_output")) == []
    assert client.files.delete(file.id).deleted
    with pytest.raises(openai.NotFoundError):
        client.files.content(file.id)


def test_a_batch_goes_through_its_states(llm_server, client):
    batch = create(client, metadata={"process": "7"})
    assert (batch.status, batch.metadata) == ("validating", {"process": "7"})
    seen = []
    for _ in range(4):
        llm_server.advance_batches()
        batch = client.batches.retrieve(batch.id)
        seen.append((batch.status, batch.request_counts.completed, batch.request_counts.total))
    assert seen == [("in_progress", 0, 5), ("finalizing", 5, 5), *[("completed", 5, 5)] * 2]
    assert batch.created_at <= batch.in_progress_at <= batch.finalizing_at <= batch.completed_at
    answers = contents(client, batch.output_file_id)
    assert batch.error_file_id is None
    assert sorted(answers) == list("abcde")
    assert list(answers) != list("abcde"), "no order is promised, so none may be relied on"
    for name, answer in answers.items():
        assert answer["response"]["status_code"] == 200
        assert f"about {name}" in answer["response"]["body"]["choices"][0]["message"]["content"]
    entries = llm_server.requests
    assert {entry.batch_id for entry in entries} == {batch.id}
    assert [entry.custom_id for entry in entries] == list("abcde")
    assert set(llm_server.ledger.charged().values()) == {1}


def test_the_same_request_has_one_fingerprint_alone_and_in_a_batch(llm_server, client):
    create(client, "a")
    llm_server.finish_batches()
    client.chat.completions.create(**line("a")["body"])
    assert list(llm_server.ledger.charged().values()) == [2]


def test_batches_move_by_the_clock(client):
    states = ["validating", "in_progress", "finalizing", "completed"]
    with running_server(batch_seconds=0.4) as server, openai_client(server.base_url) as client:
        batch, seen = create(client), []
        deadline = time.monotonic() + 30
        while batch.status != "completed" and time.monotonic() < deadline:
            seen.append(batch.status)
            time.sleep(0.01)
            batch = client.batches.retrieve(batch.id)
    assert batch.status == "completed"
    assert batch.in_progress_at <= batch.finalizing_at <= batch.completed_at
    # A look may miss a state, but never finds an earlier one again.
    assert sorted(seen, key=states.index) == seen


def test_a_batch_that_expires_keeps_what_was_done(llm_server, client):
    batch = create(client)
    llm_server.work_on_batches(lines=1)
    assert client.batches.retrieve(batch.id).request_counts.completed == 1
    llm_server.expire_batches(after=3)
    batch = client.batches.retrieve(batch.id)
    assert (batch.status, batch.request_counts.completed) == ("expired", 3)
    assert sorted(contents(client, batch.output_file_id)) == ["a", "b", "c"]
    rest = contents(client, batch.error_file_id)
    assert {name: each["error"]["code"] for name, each in rest.items()} == {
        "d": "batch_expired",
        "e": "batch_expired",
    }
    assert len(llm_server.requests) == 3


def test_the_end_of_a_batch_can_be_planned(llm_server, client):
    llm_server.plan_batch("expired", after=2)
    llm_server.plan_batch("failed", message="Not today.")
    first, second, third = create(client), create(client), create(client)
    llm_server.finish_batches()
    first, second, third = (client.batches.retrieve(b.id) for b in (first, second, third))
    assert (first.status, first.request_counts.completed) == ("expired", 2)
    assert (second.status, second.errors.data[0].message) == ("failed", "Not today.")
    assert third.status == "completed"
    with pytest.raises(ValueError, match="cannot be planned"):
        llm_server.plan_batch("exploded")


def test_a_batch_that_is_cancelled_keeps_what_was_done(llm_server, client):
    batch = create(client)
    llm_server.work_on_batches(lines=2)
    assert client.batches.cancel(batch.id).status == "cancelling"
    llm_server.advance_batches()
    batch = client.batches.retrieve(batch.id)
    assert batch.status == "cancelled"
    assert sorted(contents(client, batch.output_file_id)) == ["a", "b"]
    assert batch.error_file_id is None
    with pytest.raises(openai.ConflictError):
        client.batches.cancel(batch.id)


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        (["{nonsense", line("a")], "invalid_json_line"),
        (["[]", line("a")], "invalid_json_line"),
        ([{"custom_id": "a"}], "missing_required_parameter"),
        ([line("a"), line("a")], "duplicate_custom_id"),
        ([line("a"), line("b", body={"model": "other"})], "mismatched_model"),
        ([line("a", url="/v1/embeddings")], "mismatched_endpoint"),
        ([], "empty_file"),
        ([line(name) for name in "abcdefg"], "too_many_requests"),
    ],
)
def test_an_input_file_that_cannot_be_used_fails_the_batch(llm_server, client, lines, code):
    llm_server.configure(most_requests_in_a_batch=6)
    batch = create(client, lines=lines)
    llm_server.advance_batches()
    batch = client.batches.retrieve(batch.id)
    assert batch.status == "failed"
    assert [problem.code for problem in batch.errors.data] == [code]
    assert llm_server.requests == []


def test_a_batch_can_be_failed_at_any_time(llm_server, client):
    batch = create(client)
    llm_server.advance_batches()
    llm_server.fail_batches("The cluster burnt down.")
    batch = client.batches.retrieve(batch.id)
    assert (batch.status, batch.errors.data[0].message) == ("failed", "The cluster burnt down.")


def test_a_batch_needs_a_file_a_known_endpoint_and_modest_metadata(llm_server, client):
    llm_server.configure(most_bytes_in_a_file=1000)
    with pytest.raises(openai.APIStatusError) as caught:
        upload(client, ["x" * 1001])
    assert caught.value.status_code == 413
    file = upload(client, [line("a")]).id
    good = {"input_file_id": file, "endpoint": CHAT, "completion_window": "24h"}
    for bad in (
        {"input_file_id": "file-unknown"},
        {"endpoint": "/v1/images"},
        {"completion_window": "1h"},
        {"metadata": {"k": "v" * 513}},
    ):
        with pytest.raises(openai.BadRequestError):
            client.batches.create(**{**good, **bad})
    with pytest.raises(openai.NotFoundError):
        client.batches.retrieve("batch_unknown")


def test_batches_are_listed_newest_first_in_pages(client):
    created = [create(client, "a", metadata={"n": str(n)}).id for n in range(5)]
    page = client.batches.list(limit=2)
    assert [batch.id for batch in page.data] == created[:2:-1]
    assert page.has_more
    after = client.batches.list(limit=2, after=created[3])
    assert [batch.metadata["n"] for batch in after.data] == ["2", "1"]
    assert [batch.id for batch in client.batches.list(limit=2)] == created[::-1]
    with pytest.raises(openai.BadRequestError):
        client.batches.list(after="batch_unknown")


def test_lines_fail_one_by_one(llm_server, client):
    faults = llm_server.faults
    faults.add("server_error", match="about b", in_batches=True)
    faults.add("cut_before", match="about c", in_batches=True)
    faults.add("break_schema", match="about d", in_batches=True)
    batch = create(client)
    llm_server.finish_batches()
    batch = client.batches.retrieve(batch.id)
    counts = batch.request_counts
    assert (batch.status, counts.completed, counts.failed) == ("completed", 3, 2)
    answers = contents(client, batch.output_file_id)
    assert sorted(answers) == ["a", "d", "e"]
    assert answers["d"]["response"]["body"]["choices"][0]["message"]["content"].startswith("[")
    errors = contents(client, batch.error_file_id)
    assert errors["b"]["response"]["status_code"] == 500
    assert (errors["c"]["response"], errors["c"]["error"]["code"]) == (None, "server_error")
    assert sum(llm_server.ledger.charged().values()) == 3


def test_habits_of_other_servers(llm_server, client):
    llm_server.configure(batch_bodies_as_strings=True, empty_error_files=True)
    batch = create(client, "a")
    llm_server.finish_batches()
    batch = client.batches.retrieve(batch.id)
    body = contents(client, batch.output_file_id)["a"]["response"]["body"]
    assert json.loads(body)["object"] == "chat.completion"
    assert client.files.content(batch.error_file_id).content == b""


def test_a_server_without_batches_has_chats_all_the_same(llm_server, client):
    llm_server.faults.add("no_batches")
    with pytest.raises(openai.NotFoundError):
        upload(client, [line("a")])
    with pytest.raises(openai.NotFoundError):
        client.batches.list()
    assert client.chat.completions.create(**line("a")["body"]).choices


def test_a_batch_is_made_although_its_maker_never_hears_of_it(llm_server, client):
    file = upload(client, [line("a")])
    llm_server.faults.add("cut_before", path="/v1/batches", times=1)
    with pytest.raises(openai.APIConnectionError):
        client.batches.create(
            input_file_id=file.id,
            endpoint=CHAT,
            completion_window="24h",
            metadata={"process": "lost"},
        )
    (found,) = client.batches.list()
    assert found.metadata == {"process": "lost"}


def test_batches_of_a_server_in_another_process(tmp_path):
    with (
        server_process(ledger=tmp_path / "seen.sqlite3") as server,
        openai_client(server.base_url) as client,
    ):
        server.plan_batch("expired", after=1)
        first = create(client)
        server.finish_batches()
        assert client.batches.retrieve(first.id).status == "expired"
        second = create(client)
        server.work_on_batches(lines=2)
        server.expire_batches(after=2)
        assert client.batches.retrieve(second.id).request_counts.completed == 2
        third = create(client)
        server.advance_batches()
        server.fail_batches()
        assert client.batches.retrieve(third.id).status == "failed"
        assert len(server.requests) == 3
