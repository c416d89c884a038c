"""Tests that read the code: imports point one way, every command and variable is accounted for."""

import ast
import re
from pathlib import Path

import pytest

from glossary_site.env import ROOT

# Who may import whom: an app sees the ones below it in this list, and itself.
LAYERS = (
    ("collection", "runs"),
    ("indexing",),
    ("projects",),
    ("glossary_site",),
)
# The site package also holds what joins the apps together; only these files may look up.
JOINTS = {
    "glossary_site/asgi.py",
    "glossary_site/urls.py",
    "glossary_site/settings.py",
    "glossary_site/management/commands/serve.py",
}


def python_files(top: str) -> list[Path]:
    return sorted((ROOT / top).rglob("*.py"))


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
    return names


def rank(app: str) -> int:
    return next(n for n, layer in enumerate(LAYERS) if app in layer)


def test_imports_point_one_way():
    apps = {app for layer in LAYERS for app in layer}
    turned = []
    for app in apps:
        for path in python_files(app):
            name = str(path.relative_to(ROOT))
            if name in JOINTS:
                continue
            for module in imported(path):
                other = module.split(".")[0]
                if other in apps and other != app and rank(other) <= rank(app):
                    turned.append(f"{name} imports {module}")
    assert turned == []


# Within the site package: what each part may not know of. (Nothing in it knows the apps above.)
BELOW = {
    "observe": ("jobs", "llm", "live", "processes"),
    "outbound": ("jobs", "llm", "live", "processes"),
    "live": ("jobs", "llm", "processes"),
    "processes": ("jobs", "llm", "live"),
    "jobs": ("llm",),
}


@pytest.mark.parametrize(("part", "above"), BELOW.items(), ids=BELOW)
def test_the_plumbing_has_an_order_too(part, above):
    forbidden = tuple(f"glossary_site.{other}" for other in above)
    turned = [
        f"{path.relative_to(ROOT)} imports {module}"
        for path in python_files(f"glossary_site/{part}")
        for module in imported(path)
        if module.startswith(forbidden)
    ]
    assert turned == []


def test_no_import_hides_in_a_function():
    """An import inside a function is how a cycle is dodged; break the cycle instead."""
    hidden = []
    for layer in LAYERS:
        for app in layer:
            for path in python_files(app):
                for node in ast.walk(ast.parse(path.read_text())):
                    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                        hidden += [
                            f"{path.relative_to(ROOT)}:{inner.lineno}"
                            for inner in ast.walk(node)
                            if isinstance(inner, (ast.Import, ast.ImportFrom))
                        ]
    assert hidden == []


def commands() -> list[str]:
    return sorted(
        path.stem
        for layer in LAYERS
        for app in layer
        for path in (ROOT / app).glob("management/commands/[a-z]*.py")
    )


@pytest.mark.parametrize("command", commands())
def test_every_command_is_run_by_some_test(command):
    calls = re.compile(rf"""["']{command}["']""")
    assert any(
        calls.search(path.read_text())
        for path in python_files("tests")
        if path.name.startswith("test_") and path != Path(__file__)
    )


def test_every_variable_is_documented_and_read():
    """`.env.example` lists what the code reads, no more and no less."""
    names = re.compile(r"""\benv\.\w+\(\s*["']([A-Z_]+)["']""")
    read = set()
    for path in python_files("glossary_site"):
        read |= set(names.findall(path.read_text()))
    documented = set(re.findall(r"^([A-Z_]+)=", (ROOT / ".env.example").read_text(), re.M))
    assert documented == read


def test_locked_requirements_name_no_index():
    for name in ("requirements.txt", "requirements-dev.txt"):
        assert not re.search(r"(?m)^\s*-|https?://", strip_hashes((ROOT / name).read_text()))


def strip_hashes(text: str) -> str:
    return re.sub(r"(?m)^\s*--hash=\S+( \\)?$", "", text)
