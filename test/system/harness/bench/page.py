# SPDX-License-Identifier: BSD-3-Clause
"""One page of all results of devtools/bench that a directory has: charts, and how they came to be."""
import json
import pathlib
import re
import shutil
import statistics
import time
from xml.sax.saxutils import escape

from . import lines, svg

RESULTS = ("bench", "bench-programs", "bench-lines", "bench-pci", "bench-flow", "bench-softhca")
HISTORY = "bench-history"
STYLE = """body { font: 14px sans-serif; max-width: 960px; margin: 2em auto; color: #222 }
svg { width: 100% } h2 { margin-top: 2em } p { line-height: 1.4 }"""
STAMP = "%Y%m%dT%H%M%S"


def keep(directory):
    """Copy each result into the history, by its time, unless it is there."""
    history = directory / HISTORY
    for name in RESULTS:
        file = directory / f"{name}.json"
        if file.exists():
            history.mkdir(exist_ok=True)
            kept = history / f"{name}-{time.strftime(STAMP, time.localtime(file.stat().st_mtime))}.json"
            if not kept.exists():
                shutil.copy2(file, kept)


def _section(title, words, *charts):
    return f"<h2>{escape(title)}</h2><p>{escape(words)}</p>{''.join(charts)}"


def _usual(rows):
    """In the usual shape: bursts of 32, one queue, warm, untouched."""
    return [row for row in rows if re.search(r" x32( uncompressed)?$", row["case"])]


def ratios(rows):
    chosen = [(row["case"], [row.get("ratio"), row.get("instructions_ratio")]) for row in rows
              if row.get("ratio") is not None or row.get("instructions_ratio") is not None]
    return _section("Ratios to the in-tree driver", "Ticks and instructions of a packet in the burst functions, by case. "
                    "Left of the dashed line ours are less.",
                    svg.bars("ratios by case", ("ticks", "instructions"), chosen, mark=1))


def sizes(rows):
    out = []
    for unit, prefix in (("ticks", ""), ("instructions", "instructions_")):
        chosen = [(row["case"], [row.get(f"{prefix}ours"), row.get(f"{prefix}theirs")]) for row in _usual(rows)
                  if row.get(f"{prefix}ours") is not None and row.get(f"{prefix}theirs") is not None]
        if chosen:
            out.append(svg.bars(f"{unit} by size", (f"{unit}, ours", f"{unit}, theirs"), chosen))
    return _section("Ticks and instructions by packet size", "A packet's, in bursts of 32, one queue.", *out) if out else ""


def cache_lines(rows):
    chosen = [(f"{row['case']}, {whose}", [row[f"kinds_{whose}"][kind][2] for kind in lines.KINDS])
              for row in _usual(rows) for whose in ("ours", "theirs")]
    return _section("Cache lines", "Distinct lines that a packet touches, by what they belong to.",
                    svg.stacks("cache lines", lines.KINDS, chosen))


def pci(rows):
    out = []
    for title, column in (("to the host", 0), ("to the device", 2)):
        names = [name for name in ("ours", "default", "mprq", "inline") if any(name in row for row in rows)]
        chosen = [(row["case"], [row[name]["all"][column] if name in row else None for name in names])
                  for row in _usual(rows)]
        out.append(svg.bars(f"bytes {title}", [f"{name}, {title}" for name in names], chosen))
    return _section("Bytes over PCI", "A packet's, with headers of TLPs; default, mprq and inline are the in-tree driver.", *out)


def rules(result):
    chosen = [(f"{number} rules", [sum(taken["verbs"]), sum(taken["rte_flow"])])
              for number, taken in result["rules"].items()]
    rates = [(driver, [rates["inserted"], rates["deleted"]]) for driver, rates in result["flow_perf"].items()]
    unit = "instructions a rule" if result["unit"] == "instructions" else "thousands a second"
    return _section("Rules", f"What a rule costs, made and destroyed ({result['unit']}), and {unit} by dpdk-test-flow-perf.",
                    svg.bars("cost of a rule", ("bare verbs", "rte_flow"), chosen),
                    svg.bars("dpdk-test-flow-perf", ("made", "deleted"), rates) if rates else "")


def software_card(result):
    chosen = [(f"round {number + 1}", [row["of_memif"], row["left"]]) for number, row in enumerate(result["rounds"])]
    return _section("The software card", "Its rate in that of net_memif, and what rules leave of it.",
                    svg.bars("softhca", ("of net_memif", "with rules"), chosen, mark=1)) if chosen else ""


def programs(result):
    chosen = [(row["case"], [row["ours"], row["theirs"]]) for row in result["rows"]]
    return _section("Whole programs", "Ticks a packet, receive to send, of programs on one lcore and one port.",
                    svg.bars("programs", ("ours", "theirs"), chosen)) if chosen else ""


def _mean(rows, key):
    figures = [row[key] for row in rows if row.get(key) is not None]
    return round(statistics.mean(figures), 4) if figures else None


def history(directory):
    """Means over all cases of each earlier run of bench rxtx, which may have had fewer cases."""
    points = []
    for file in sorted((directory / HISTORY).glob("bench-2*.json")):
        rows = json.loads(file.read_text())
        points.append((f"{file.stem[6:]} ({len(rows)})", [_mean(rows, "ratio"), _mean(rows, "instructions_ratio")]))
    if len(points) < 2:
        return ""
    return _section("History", "Mean ratios of each run, with its number of cases in parentheses.",
                    svg.lines("history", ("ticks", "instructions"), points))


CHARTS = {"bench": (ratios, sizes), "bench-programs": (programs,), "bench-lines": (cache_lines,), "bench-pci": (pci,), "bench-flow": (rules,),
          "bench-softhca": (software_card,)}


def machine():
    """The CPU's name."""
    found = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    return found[1] if found else "a CPU without a name"


def make(directory):
    """The page, as text; None: there is no result."""
    parts = []
    for name in RESULTS:
        file = directory / f"{name}.json"
        if not file.exists():
            continue
        result = json.loads(file.read_text())
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(file.stat().st_mtime))
        charts = [chart(result) for chart in CHARTS[name]] if result else []
        if any(charts):
            parts += [*charts, f"<p><small>{escape(file.name)}, {when}</small></p>"]
    if not parts:
        return None
    return (f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"/><title>mlx5dv: bench</title><style>{STYLE}</style>'
            f"</head><body><h1>mlx5dv: bench</h1><p>On {escape(machine())}.</p>{''.join(parts)}{history(directory)}"
            "</body></html>\n")


def charts(text):
    """{name of a file: the chart, as a file of its own} of the page."""
    head = '<?xml version="1.0" encoding="utf-8"?>\n<!-- SPDX-License-Identifier: BSD-3-Clause -->\n'
    return {f"{match[1].replace(' ', '-')}.svg": f"{head}{match[0]}\n"
            for match in re.finditer(r'<svg [^>]*aria-label="([^"]*)">.*?</svg>', text)}
