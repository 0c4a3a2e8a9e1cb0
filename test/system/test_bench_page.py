# SPDX-License-Identifier: BSD-3-Clause
"""build/bench.html: charts of the results that there are, in one file."""
import json
import os
import subprocess
import xml.etree.ElementTree as tree

import pytest
from harness import paths
from harness.bench import lines, page, svg

SVG = "{http://www.w3.org/2000/svg}"
RXTX = [{"case": "rx plain 64 B x32", "peer": "net_mlx5", "ours": 30, "theirs": 60, "ratio": 0.5,
         "instructions_ours": 32, "instructions_theirs": 64, "instructions_ratio": 0.5},
        {"case": "tx <vlan> & more 64 B x8", "peer": "net_mlx5", "ours": None, "theirs": None, "ratio": None,
         "instructions_ours": 36, "instructions_theirs": 128, "instructions_ratio": 0.281}]
KINDS = {kind: [1, 0, number] for number, kind in enumerate(lines.KINDS)}
RESULTS = {
    "bench": RXTX,
    "bench-programs": {"rows": [{"case": "l2fwd 64 B", "ours": 60, "theirs": 120, "ratio": 0.5}]},
    "bench-lines": [{"case": "rx plain 64 B x32", "kinds_ours": KINDS, "kinds_theirs": KINDS}],
    "bench-pci": [{"case": "tx plain 64 B x32", "ours": {"all": [30, 1, 100, 1]}, "inline": {"all": [8, 1, 78, 1]}}],
    "bench-flow": {"unit": "ns", "rules": {"1000": {"verbs": [4000, 900], "rte_flow": [4500, 1000]}},
                   "flow_perf": {"net_mlx5dv": {"inserted": 149, "deleted": 521}}},
    "bench-softhca": {"rounds": [{"of_memif": 1.9, "left": 0.9}]},
}


def bars(chart):
    return [(bar.find(f"{SVG}title").text, float(bar.get("width"))) for bar in chart.iter(f"{SVG}rect")
            if float(bar.get("x")) >= svg.LABEL and float(bar.get("y")) > 20]


def write(directory, name, result, when=None):
    file = directory / f"{name}.json"
    file.write_text(json.dumps(result))
    if when:
        os.utime(file, (when, when))


def charts(directory):
    """{name: its SVG} of the page, which is well-formed."""
    root = tree.fromstring((directory / "bench.html").read_text().partition(">")[2])
    return {chart.get("aria-label"): chart for chart in root.iter(f"{SVG}svg")}


def run(directory, *options):
    return subprocess.run([paths.ROOT / "devtools/bench", "page", *options, directory], text=True, capture_output=True)


def test_each_result_has_its_charts(tmp_path):
    for name, result in RESULTS.items():
        write(tmp_path, name, result)
    assert run(tmp_path).stdout == f"charts: {tmp_path}/bench.html\n"
    found = charts(tmp_path)
    assert set(found) == {"ratios by case", "ticks by size", "instructions by size", "programs", "cache lines", "bytes to the host",
                          "bytes to the device", "cost of a rule", "dpdk-test-flow-perf", "softhca"}
    ratios = dict(bars(found["ratios by case"]))
    assert set(ratios) == {"rx plain 64 B x32, ticks: 0.5", "rx plain 64 B x32, instructions: 0.5",
                           "tx <vlan> & more 64 B x8, instructions: 0.281"}
    # Twice the figure is twice the length.
    ticks = dict(bars(found["ticks by size"]))
    assert ticks["rx plain 64 B x32, ticks, theirs: 60"] == pytest.approx(
        2 * ticks["rx plain 64 B x32, ticks, ours: 30"], abs=0.2)
    assert [name for name, _ in bars(found["bytes to the device"])] == [
        "tx plain 64 B x32, ours, to the device: 100", "tx plain 64 B x32, inline, to the device: 78"]
    assert sum(width for name, width in bars(found["cache lines"]) if "ours" in name) == pytest.approx(
        svg.WIDTH - svg.LABEL - svg.FIGURE, abs=1)


def test_the_page_needs_no_other_file(tmp_path):
    write(tmp_path, "bench", RXTX)
    run(tmp_path)
    text = (tmp_path / "bench.html").read_text()
    assert not any(word in text.replace('xmlns="http://www.w3.org/2000/svg"', "")
                   for word in ("http:", "https:", "src=", "href=", "@import", "url("))


def test_each_chart_is_a_file_for_the_guide(tmp_path):
    for name in "bench", "bench-pci":
        write(tmp_path, name, RESULTS[name])
    run(tmp_path, "--charts", tmp_path / "charts")
    assert {file.name for file in (tmp_path / "charts").iterdir()} == {
        "ratios-by-case.svg", "ticks-by-size.svg", "instructions-by-size.svg", "bytes-to-the-host.svg", "bytes-to-the-device.svg"}
    alone = tree.parse(tmp_path / "charts" / "ratios-by-case.svg").getroot()
    assert bars(alone) == bars(charts(tmp_path)["ratios by case"]) and bars(alone)


def test_earlier_runs_are_the_history(tmp_path):
    write(tmp_path, "bench", RXTX, 1_700_000_000)
    run(tmp_path)
    assert "history" not in charts(tmp_path)
    run(tmp_path)
    assert len(list((tmp_path / "bench-history").iterdir())) == 1
    write(tmp_path, "bench", [dict(RXTX[0], ratio=0.25)], 1_700_086_400)
    run(tmp_path)
    history = charts(tmp_path)["history"]
    titles = [dot.find(f"{SVG}title").text for dot in history.iter(f"{SVG}circle")]
    assert titles == ["ticks: 0.5", "ticks: 0.25", "instructions: 0.3905", "instructions: 0.5"]


def test_nothing_measured_is_no_page(tmp_path):
    done = run(tmp_path)
    assert done.returncode == 1 and f"{tmp_path} has no results" in done.stderr
    assert not (tmp_path / "bench.html").exists()
    assert page.make(tmp_path) is None


def test_the_guide_shows_its_charts():
    """All that there are, each of them a chart."""
    guide = paths.ROOT / "doc/guides/performance.rst"
    shown = [line.split()[-1] for line in guide.read_text(encoding="utf-8").splitlines() if line.startswith(".. image::")]
    assert shown and sorted(shown) == sorted(f"charts/{file.name}" for file in (guide.parent / "charts").iterdir())
    for chart in shown:
        assert tree.parse(guide.parent / chart).getroot().tag == f"{SVG}svg"
