"""Runs the targets of `tests.fuzzing` for a while: `python -m tests.fuzz [--seconds 60] [framing events]`."""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
import time
from collections.abc import Callable

_EXAMPLES_AT_A_TIME = 2_000
_MOST_BYTES = 4096


def by_atheris(name: str, seconds: int) -> None:
    """Let the coverage of the reader guide what is tried. Ends the process when the time is over."""
    import atheris

    with atheris.instrument_imports(include=["zentracer_store", "zentracer_schema"]):
        from tests.fuzzing import TARGETS
    options = [f"-max_total_time={seconds}", f"-max_len={_MOST_BYTES}", "-rss_limit_mb=2048", "-print_final_stats=1"]
    atheris.Setup([sys.argv[0], *options], TARGETS[name])
    atheris.Fuzz()


def by_hypothesis(target: Callable[[bytes], None], seconds: int) -> None:
    """Try what hypothesis thinks of, until the time is over."""
    from hypothesis import given, settings
    from hypothesis import strategies as st

    end = time.monotonic() + seconds

    @settings(max_examples=_EXAMPLES_AT_A_TIME, deadline=None, database=None)
    @given(st.binary(max_size=_MOST_BYTES))
    def attempt(data: bytes) -> None:
        target(data)

    while time.monotonic() < end:
        attempt()


def main() -> int:
    """Run each target in turn; the exit status says whether one failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="all by default")
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--atheris", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.atheris:
        by_atheris(options.targets[0], options.seconds)
    from tests.fuzzing import TARGETS

    guided = importlib.util.find_spec("atheris") is not None
    print("Coverage guides the input." if guided else "atheris is not installed: hypothesis makes up the input.")
    failed = False
    for name in options.targets or TARGETS:
        print(f"--- {name}, {options.seconds} s", flush=True)
        if guided:  # a process each: the fuzzer ends the one that it is in
            command = [sys.executable, "-m", "tests.fuzz", name, "--atheris", "--seconds", str(options.seconds)]
            failed |= subprocess.run(command).returncode != 0
        else:
            by_hypothesis(TARGETS[name], options.seconds)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
