from tests.llm.conftest import llm_server, provider

__all__ = ["llm_server", "provider"]
