"""Makes the README's table of figures from bench/results, each beside the mark it was to meet."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
README = HERE.parent / "README.md"
BEGIN, END = "<!-- figures -->", "<!-- end of figures -->"

Figure = Mapping[str, Any]


@dataclass(frozen=True)
class Mark:
    """Figures whose name matches `pattern` should be that; `what` says them in words.

    `of_rival` is the largest share of the rival's figure that ours may be.
    """

    pattern: str
    what: str
    at_most: float | None = None
    at_least: float | None = None
    of_rival: float | None = None

    def met(self, figure: Figure) -> bool | None:
        """Whether `figure` meets all of the mark; None where there is none."""
        value = figure["value"]
        verdicts = []
        if self.at_most is not None:
            verdicts.append(value <= self.at_most)
        if self.at_least is not None:
            verdicts.append(value >= self.at_least)
        if self.of_rival is not None:
            verdicts.append(value <= self.of_rival * figure["rival_value"])
        return all(verdicts) if verdicts else None

    def __str__(self) -> str:
        wanted = []
        if self.at_most is not None:
            wanted.append(f"≤ {self.at_most:g}")
        if self.at_least is not None:
            wanted.append(f"≥ {self.at_least:g}")
        if self.of_rival is not None:
            wanted.append(f"≤ {self.of_rival:g} × rival")
        return ", ".join(wanted)


# In the order of the table. {0} and so on are the groups of the pattern. A figure without an entry is not in the table.
MARKS = (
    Mark(r"writer_(\w+)\.(\w+)\.step_ms", "{0}, {1}: a step without us"),
    Mark(r"writer_(\w+)\.(\w+)\.default", "{0}, {1}: default settings", at_most=2),
    Mark(r"writer_(\w+)\.(\w+)\.default_records_per_1000", "{0}, {1}: full samples in 1,000 steps", at_least=20),
    Mark(r"writer_(\w+)\.(\w+)\.every_step", "{0}, {1}: all parameters, every step", at_most=10, of_rival=0.25),
    Mark(r"writer_(\w+)\.(\w+)\.every_10", "{0}, {1}: all parameters, every 10 steps"),
    Mark(r"writer_(\w+)\.(\w+)\.every_step_differenced", "{0}, {1}: every step, by difference to no tracer"),
    Mark(r"writer_(\w+)\.(\w+)\.a_a", "{0}, {1}: no tracer, by difference to no tracer"),
    Mark(r"sink\.record_us", "one record of 1,000 × 16: training thread", at_most=100),
    Mark(r"sink\.thread_us", "one record of 1,000 × 16: writer thread", at_most=500),
    Mark(r"sink\.bytes_per_statistic", "on disk, a statistic", at_most=4.4),
    Mark(r"store\.cold_scalars_vs_rust", "1 M scalar events read, our time over the data server's", at_most=1.0),
    Mark(r"store\.cold_scalars_vs_python", "1 M scalar events read, our time over the Python loader's", at_most=0.05),
    Mark(r"store\.cold_scalars_vs_tbparse", "1 M scalar events read, our time over tbparse's"),
    Mark(r"store\.packed_mb_per_s", "packed tables read", at_least=400),
    Mark(r"store\.second_start_vs_cold", "an unchanged log at the second start, over the first", at_most=0.05),
    Mark(r"live\.flush_p95_ms", "flush to changed pixel, 95th percentile, worst mode", at_most=500),
    Mark(r"live\.step_p95_ms", "optimizer step to changed pixel, 95th percentile, worst mode", at_most=1500),
    Mark(r"heatmap\.first_paint_ms", "2,000 rows × 10,000 steps: first picture, reopened server", at_most=1000),
    Mark(r"heatmap\.query_ms", "2,000 rows × 10,000 steps: one query", at_most=100),
    Mark(r"heatmap\.frame_ms_p95", "2,000 rows × 10,000 steps: a frame while zooming, 95th percentile", at_most=16),
    Mark(r"many_runs\.cold_s", "2,000 runs × 30 tags listed, first time", at_most=10),
    Mark(r"many_runs\.warm_s", "2,000 runs × 30 tags listed, second start", at_most=2),
    Mark(r"many_runs\.idle_core_percent", "2,000 quiet runs, watched", at_most=2),
    Mark(r"soak\.growth_percent", "the server's memory over 500 reloads of a growing log", at_most=5),
)


def number(value: float) -> str:
    """Three significant digits, without an exponent."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def rows(figures: Iterable[Figure]) -> list[str]:
    """The lines of a Markdown table, in the order of MARKS."""
    figures = list(figures)
    out = ["| what | measured | mark | | rival |", "| --- | ---: | ---: | --- | --- |"]
    for mark in MARKS:
        for figure in figures:
            match = re.fullmatch(mark.pattern, figure["name"])
            if match is None:
                continue
            met = mark.met(figure)
            verdict = "" if met is None else "met" if met else "**missed**"
            rival = ""
            if figure.get("rival"):
                rival = f"{figure['rival']}: {number(figure['rival_value'])} {figure['unit']}"
            measured = f"{number(figure['value'])} {figure['unit']}"
            out.append(f"| {mark.what.format(*match.groups())} | {measured} | {mark} | {verdict} | {rival} |")
    machines = sorted({figure["machine"] for figure in figures})
    return [*out, "", f"Medians, rivals measured in turn with ours, on {'; '.join(machines)}."]


def replaced(text: str, table: Iterable[str]) -> str:
    """`text` with `table` between its two markers."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"{README.name} needs the lines {BEGIN} and {END}, between which the table goes.")
    return "\n".join([before + begin, *table, end + after])


def main() -> None:
    """Write the table into the README."""
    files = sorted((HERE / "results").glob("*.jsonl"))
    figures = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    if not figures:
        raise SystemExit("bench/results holds no figures. Make some first: python -m bench")
    README.write_text(replaced(README.read_text(), rows(figures)))


if __name__ == "__main__":
    main()
