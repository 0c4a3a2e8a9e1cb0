# SPDX-License-Identifier: BSD-3-Clause
"""mlx5dv-check's experiments: one for each question of doc/design/hardware-questions.md, and what they see on softhca."""
import re

import pytest
from harness import paths
from harness.mlx5dv_check import CABLE, all_rows, check, run
from harness.models import changed

DOCUMENT = (paths.ROOT / "doc/design/hardware-questions.md").read_text()
FUNCTIONS = ["wire=null,vf=on", "wire=null,vf=on,mac=02:00:00:00:00:09"]


def faults_of(document, rows):
    """What document and program say differently: "Q7: ..."."""
    cells = {}
    for line in document.splitlines():
        found = re.match(r"\| (Q\d+) \| .* \| .* \| (.*) \|$", line)
        if found:
            cells[found.group(1)] = found.group(2)
    faults = []
    for number, cell in cells.items():
        named = re.findall(r"`([^`]*)`", cell)
        reason = re.search(r"not by a program, .*: .{20,}|not by a program: .{20,}", cell)
        if not reason and not any(name in rows for name in named):
            faults.append(f"{number}: neither an experiment nor why there is none")
        faults += [f"{number}: no row `{name}`" for name in named if re.match(r"Q\d", name) and name not in rows]
        faults += [f"{number}: `{name}` is another's" for name in named if re.match(r"Q\d", name) and not name.startswith(f"{number}: ")]
    written = " ".join(cells.values())
    faults += [f"{row}: in no cell" for row in rows if re.match(r"Q\d", row) and f"`{row}`" not in written]
    return faults


def test_each_question_has_its_experiment_or_a_reason():
    assert len(re.findall(r"^\| Q\d", DOCUMENT, re.M)) >= 12
    assert faults_of(DOCUMENT, all_rows()) == []


@pytest.mark.parametrize("line, rows, fault", [
    ("| Q91 | Is it so? | yes | none yet |", [], "Q91: neither an experiment nor why there is none"),
    ("| Q91 | Is it so? | yes | not by a program: no |", [], "Q91: neither an experiment nor why there is none"),
    ("| Q91 | Is it so? | yes | `Q91: is it` |", [], "Q91: no row `Q91: is it`"),
    ("| Q91 | Is it so? | yes | `Q7: consumer index` |", [], "Q91: `Q7: consumer index` is another's"),
    ("| Q91 | Is it so? | yes | not by a program: it takes a reset of the host |", [], None),
    ("", ["Q92: new"], "Q92: new: in no cell"),
])
def test_a_question_or_an_experiment_more_is_noticed(line, rows, fault):
    faults = faults_of(DOCUMENT + line + "\n", all_rows() + rows)
    assert fault in faults if fault else not faults


def seen(tmp_path, ports, *args):
    status, _, report = check(tmp_path, "--only", "Q", *args, ports=ports)
    assert status == 0, report
    return {row["row"]: f"{row['result']}: {row['why']}" for row in report["rows"] if row["row"].startswith("Q")}


ANSWERS = {
    "Q1: mark behind PASSTHRU": "seen: the packet of the later rule has no mark",
    "Q2: equal priorities": "seen: the rule that came first has the packet",
    "Q3: first fragment": "hash 0x00000000, packet type 0x391, queue 0",
    "Q5: two sniffers": "a function that is not virtual takes two by TIRs; the port's frame came to the first 1 times, to the second "
                        "1, to the port itself 1",
    "Q6: short frames": "of 14 bytes comes with 60; 15 comes with 60; 16 comes with 60; 17 comes with 60; 18 comes with 60",
    "Q7: consumer index": "with 0x0 4 of 8 are written, then: CQ error; with 0x1 5 of 8 are written, then: CQ error; with "
                          "0x1000000 4 of 8 are written, then: CQ error; with 0xffffff 8 of 8 are written",
    "Q8: TCP behind extensions": "hop-by-hop: packet type 0x1e1, right checksum good, wrong one unknown; routing: packet type 0x1e1,",
    "Q9: destinations": "seen: 64 or more",
    "Q9: counters": "seen: 16, one more is refused: Invalid argument",
    "Q9: counter twice": "seen: one packet, which came 2 times, is 1 of its packets",
    "Q11: tunnel not asked for": "seen: not asked for: pkt_info 0x00, types 0x28, ok 0x7, with a wrong checksum 0x7; asked for: "
                                 "pkt_info 0x01, types 0x28, ok 0x7, with a wrong checksum 0x3",
    "Q12: counter": "seen: completions are stamped by the counter; the counter, of 156250 kHz by its report, runs",
}
LEAN = {
    "Q1: mark behind PASSTHRU": "not there: ",
    "Q5: two sniffers": "the first sniffer by a TIR of a function that is not virtual is refused: Operation not supported",
    "Q9: destinations": "seen: 2, one more is refused: Invalid argument",
    "Q9: counters": "seen: 1, one more is refused: Invalid argument",
    "Q9: counter twice": "seen: refused: Invalid argument",
}
BY_LIBMLX5 = {"Q6: short frames": "of 14 bytes refused by verbs: Invalid argument;"}  # it inlines 18 bytes there
NO_TUNNELS = {"Q11: tunnel not asked for": "ok 0x7, with a wrong checksum 0x7; asked for: refused: Operation not supported"}
EITHER_CLOCK = {"Q12: counter": "by the counter, or the real-time clock where a CQ asks; the counter, of 156250 kHz by its report, runs"}
ONE_CLOCK = {"Q12: counter": "by the real-time clock alone; the counter, of 156250 kHz by its report, runs"}
OF_A_FUNCTION = {"Q5: two sniffers": "a virtual function takes two by TIRs; the port's frame came to the first 1 times, to the second 1,"}


@pytest.mark.parametrize("ports, others", [
    (CABLE, {}),
    ([f"{port},model=lean" for port in CABLE], LEAN),
    pytest.param([f"{port},model=cx4lx" for port in CABLE], BY_LIBMLX5, marks=pytest.mark.long),
    pytest.param(FUNCTIONS, OF_A_FUNCTION, marks=pytest.mark.long),
], ids=["cx5", "lean", "cx4lx", "vf"])
def test_what_is_seen(tmp_path, ports, others):
    """As the document's column of softhca's answers has it."""
    found = seen(tmp_path, ports)
    assert set(found) == {row for row in all_rows() if re.match(r"Q\d", row)}
    for row, answer in {**ANSWERS, **others}.items():
        assert answer in found[row], found[row]


@pytest.mark.parametrize("lines, port, others", [
    ({"tunnel_offloads": "none", "real_time_clock": "only"}, "", {**NO_TUNNELS, **ONE_CLOCK}),
    pytest.param({"real_time_clock": "yes"}, ",rtc=on", EITHER_CLOCK, marks=pytest.mark.long),
], ids=["no tunnels, real-time only", "real-time clock"])
def test_what_is_seen_of_another_device(tmp_path, lines, port, others):
    model = changed(tmp_path, lines, "cx6dx")
    found = seen(tmp_path, [f"{wire},model={model}{port}" for wire in CABLE], "--only", "Q1")
    for row, answer in others.items():
        assert answer in found[row], found[row]


def test_a_device_that_refuses_tirs(tmp_path):
    """What an experiment needs and does not get is no failure of the port."""
    faults = tmp_path / "faults"
    faults.write_text("verb enomem CREATE_WQ from 5\n")
    status, rows, report = check(tmp_path, "--only", "Q9: c", options=["--faults", faults])
    assert set(rows.values()) == {"not there"} and status == 0, report
    assert {row["why"] for row in report["rows"]} == {"no queue of verbs beside the port: Cannot allocate memory"}


def test_an_experiment_breaks_a_rule_on_purpose_and_only_that_one():
    """Under --strict softhca reports Q7's indexes, and nothing of the others. What it reports of a row is said before the row's end."""
    done = run("--ibdev", "mlx5_0", "--peer", "mlx5_1", "--only", "Q", "--packets", "5000", options=["--strict"])
    found, at = {}, []
    for line in done.stdout.splitlines():
        at += re.findall(r"^softhca: strict: mlx5_\S+ .*: (\S+): ", line)
        for row in re.findall(r"^seen +(Q\d+: [^:]*)", line):
            found[row], at = set(at), []
    assert list(found) == [row for row in all_rows() if re.match(r"Q\d", row)] and not at, done.stdout
    # What 0x01000000 is called goes by whether the device looks before a completion is there that a swapped 1 could mean.
    swapped = {"cq-record-byte-order", "cq-record-width"}
    said = found.pop("Q7: consumer index")
    assert said - swapped == {"cq-overrun", "cq-record-index"} and said & swapped, done.stdout
    assert set.union(*found.values()) == set(), done.stdout
