"""Runs benchmarks by name, prints one JSON object a line and keeps them in bench/results.

A benchmark is a file here with `run()`, which yields mappings: `name`, `value`, `unit`, `runs` (of how many `value` is
the median), and where something else was measured beside it `rival` and `rival_value` (and `rival_runs`, where it was
not measured as often).
"""

import argparse
import importlib
import json
import os
import platform
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE / "results"
NEEDED = {"name", "value", "unit", "runs"}


def benchmarks() -> list[str]:
    """The names of all benchmarks."""
    return sorted(path.stem for path in HERE.glob("*.py") if "\ndef run(" in path.read_text())


def machine() -> str:
    """What a figure was measured on, in a few words."""
    return f"{os.cpu_count()} cores ({platform.machine()}), Python {platform.python_version()}"


def measure(name: str) -> None:
    """Run one benchmark; its file of results is replaced when it is through."""
    lines = []
    for figure in importlib.import_module(f"bench.{name}").run():
        missing = NEEDED - set(figure)
        if missing:
            raise SystemExit(f"bench/{name}.py yields a figure without {', '.join(sorted(missing))}: {figure}")
        lines.append(json.dumps({**figure, "machine": machine()}))
        print(lines[-1], flush=True)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines))


def main() -> None:
    """Run what is asked for, or everything."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__.partition("\n")[0])
    parser.add_argument("name", nargs="*", help=f"of {', '.join(benchmarks()) or 'none so far'}; default: all")
    names = parser.parse_args().name or benchmarks()
    for name in names:
        if name not in benchmarks():
            parser.error(f"There is no benchmark {name!r}. There are: {', '.join(benchmarks())}.")
    for name in names:
        measure(name)


if __name__ == "__main__":
    main()
