"""An assistant with the real client, in this process."""

from contextlib import asynccontextmanager

from asgiref.sync import sync_to_async
from mcp import Client

from indexing.mcp.server import make_server
from projects.models import Project
from tests import factories
from tests.indexing.harbour import make_harbour


def text_of(answer) -> str:
    (block,) = answer.content
    return block.text


async def refusal(client, tool: str, **arguments) -> str:
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error
    assert answer.structured_content is None
    return text_of(answer)


@asynccontextmanager
async def in_this_process(actor, mode: str = "auto"):
    async with Client(make_server(lambda: actor), mode=mode) as client:
        yield client


@sync_to_async
def make_scene() -> Project:
    project = factories.make_project("Harbour")
    make_harbour(project, "harbour.md")
    return project
