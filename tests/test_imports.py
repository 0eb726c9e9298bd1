"""Who may import whom, and that importing us loads nothing heavy."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = {path.name: path for root in ("writers", "tb_plugins") for path in (ROOT / root).iterdir() if path.is_dir()}

MAY_IMPORT = {
    "zentracer": {"zentracer_rules", "zentracer_schema"},
    "zentracer_rules": {"zentracer_schema"},
    "zentracer_schema": set(),
    "zentracer_store": {"zentracer_schema"},
    "zentracer_tb": {"zentracer_store", "zentracer_rules", "zentracer_schema"},
}
# These may import the store too, but only inside a function.
LAZY_STORE = ("zentracer.cli", "zentracer.read")
FRAMEWORKS = {"torch", "tensorflow", "keras", "jax", "flax", "optax"}


def modules() -> Iterator[tuple[str, ast.Module]]:
    """Every module of ours, by name."""
    for package, folder in PACKAGES.items():
        for path in folder.rglob("*.py"):
            parts = [package, *path.relative_to(folder).with_suffix("").parts]
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            yield name, ast.parse(path.read_text(), filename=str(path))


def imported(tree: ast.AST, *, at_import: bool = False) -> Iterator[str]:
    """The absolute names imported in `tree`; `at_import`: only those that importing the module itself imports."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.Import():
                yield from (alias.name for alias in node.names)
            case ast.ImportFrom(level=0, module=str(module)):
                yield from (f"{module}.{alias.name}" for alias in node.names)
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                if not at_import:
                    yield from imported(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef() if at_import:
                pass
            case _:
                yield from imported(node, at_import=at_import)


def within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def test_every_package_has_its_place_in_the_list_of_who_may_import_whom():
    assert set(PACKAGES) <= set(MAY_IMPORT)


def test_imports_between_our_packages_flow_one_way():
    wrong = []
    for module, tree in modules():
        package = module.partition(".")[0]
        allowed = {package, *MAY_IMPORT[package]}
        if any(within(module, lazy) for lazy in LAZY_STORE):
            at_import = {name.partition(".")[0] for name in imported(tree, at_import=True)}
            assert "zentracer_store" not in at_import, f"{module} must import the store inside a function"
            allowed.add("zentracer_store")
        tops = {name.partition(".")[0] for name in imported(tree)}
        wrong += [f"{module} imports {top}" for top in sorted(tops & set(MAY_IMPORT) - allowed)]
    assert wrong == []


def test_a_framework_is_imported_only_by_its_own_adapter():
    wrong = [
        f"{module} imports {name}"
        for module, tree in modules()
        for name in imported(tree)
        if name.partition(".")[0] in FRAMEWORKS and not within(module, f"zentracer.{name.partition('.')[0]}")
    ]
    assert wrong == []


def test_adapters_do_not_import_each_other():
    adapters = ("zentracer.torch", "zentracer.keras", "zentracer.jax")
    wrong = [
        f"{module} imports {name}"
        for module, tree in modules()
        for own in adapters
        for other in adapters
        if within(module, own) and own != other
        for name in imported(tree)
        if within(name, other)
    ]
    assert wrong == []


def test_tensorboard_is_imported_only_by_what_serves_in_it():
    wrong = [
        f"{module} imports {name}"
        for module, tree in modules()
        if not within(module, "zentracer_tb")
        for name in imported(tree)
        if within(name, "tensorboard")
    ]
    assert wrong == []


def test_what_tensorboard_imports_at_its_start_needs_only_the_standard_library_and_its_own_base():
    loaders = {
        entry.module for entry in entry_points(group="tensorboard_plugins") if within(entry.module, "zentracer_tb")
    }
    assert loaders
    trees = dict(modules())
    for loader in loaders:
        for name in imported(trees[loader], at_import=True):
            allowed = name.partition(".")[0] in sys.stdlib_module_names or name.startswith(
                "tensorboard.plugins.base_plugin"
            )
            assert allowed, f"{loader} imports {name}, and a failure there would end TensorBoard"


@pytest.mark.parametrize(
    ("package", "unwanted"),
    [
        ("zentracer", FRAMEWORKS | {"tensorboard", "pyarrow", "scipy", "pandas"}),
        ("zentracer_schema", FRAMEWORKS | {"tensorboard", "pyarrow", "scipy", "pandas"}),
        ("zentracer_store", FRAMEWORKS | {"tensorboard"}),
        ("zentracer_tb", FRAMEWORKS),
        ("zentracer_tb.loaders", FRAMEWORKS | {"numpy", "zentracer_store"}),
    ],
)
def test_importing_loads_nothing_heavy(package: str, unwanted: set[str]):
    code = f"import sys, {package}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert set(loaded.split()) & unwanted == set()
