"""What the documentation says is there: links, commands, names."""

import ast
import importlib
import re
from pathlib import Path

import pytest

import zentracer.torch

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
IDS = [str(page.relative_to(ROOT)) for page in PAGES]


def anchors(page: Path) -> set[str]:
    """The fragments of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_links_within_the_project_lead_somewhere(page: Path):
    text = page.read_text()
    links = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'(?:src|srcset|href)="([^"]+)"', text)
    for link in links:
        if re.match(r"\w+:", link):
            continue
        path, _, fragment = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), f"{link} is not there"
        assert not fragment or fragment in anchors(target), f"{link} has no such heading"


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_commands_of_make_exist(page: Path):
    text = page.read_text()
    named = {
        target
        for line in re.findall(r"`make ([^`]+)`|^make (.+)$", text, flags=re.MULTILINE)
        for target in re.findall(r"^[a-z-]+", line[0] or line[1])
    }
    assert named <= make_targets()


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_python_shown_is_python(page: Path):
    for block in re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL):
        ast.parse(block)


def test_every_command_of_make_says_what_it_does():
    makefile = (ROOT / "Makefile").read_text()
    phony = set(re.search(r"^\.PHONY: (.+)$", makefile, flags=re.MULTILINE)[1].split())
    internal = {"lint", "types", "test-frontend", "test-browser", "test-slow"}  # parts of `check` and `test-all`
    assert phony - internal == set(re.findall(r"^([a-z-]+):.*## ", makefile, flags=re.MULTILINE))


def test_every_page_can_be_reached_from_the_index():
    index = (ROOT / "docs/index.md").read_text()
    for page in (ROOT / "docs").rglob("*.md"):
        assert page.name == "index.md" or f"({page.relative_to(ROOT / 'docs')})" in index


def test_the_readme_lists_every_public_name():
    named = re.findall(r"^\| `(zentracer[\w.]*)`", (ROOT / "README.md").read_text(), flags=re.MULTILINE)
    listed = {getattr(importlib.import_module(module), name) for module, _, name in (n.rpartition(".") for n in named)}
    public = {getattr(module, name) for module in (zentracer, zentracer.torch) for name in module.__all__}
    assert listed == public
