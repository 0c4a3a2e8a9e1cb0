# SPDX-License-Identifier: BSD-3-Clause
"""Connected queue pairs under every fault of a cable: test/verbs/transport.c checks content, order and number."""
import re

import pytest
from harness import paths
from harness.both import MACS
from harness.program import run_on_softhca

PROGRAM = str(paths.BUILD / "test" / "verbs" / "verbs-transport")
PAIR = [f"wire=pair:roce,mac={mac}" for mac in MACS]
FAULTS = {
    "loss": ["loss 1%"], "duplicates": ["duplicate 5%"], "late": ["reorder 5% by 4"], "damage": ["corrupt 1%"],
    "cut": ["truncate 1%"], "all": ["loss 1%", "duplicate 1%", "reorder 1% by 3", "corrupt 1%", "truncate 1%"],
}


def run(words, ports, tmp_path, faults=()):
    options = []
    if faults:
        (tmp_path / "faults").write_text("".join(f"{line}\n" for line in ["seed 7", *(f"wire {one}" for one in faults)]))
        options = ["--faults", str(tmp_path / "faults")]
    status, text = run_on_softhca([PROGRAM, *words], ports, options=options)
    assert status == 0 and re.search(r"^[1-9]\d* checks, 0 failed", text, re.M), text
    return text


@pytest.mark.parametrize("ports", [["wire=loop"], PAIR], ids=["one port", "pair"])
def test_good_cable(ports, tmp_path):
    run([], ports, tmp_path)


@pytest.mark.parametrize("faults", FAULTS)
def test_bad_cable(faults, tmp_path):
    text = run([], PAIR, tmp_path, FAULTS[faults])
    assert len(re.findall(r"^softhca: faults: line \d+: wire .*: [1-9]\d* times$", text, re.M)) == len(FAULTS[faults]), text


@pytest.mark.long
def test_a_thousand_queue_pairs(tmp_path):
    """A million messages each way at 1 % loss."""
    run(["1000", "1000", "256"], PAIR, tmp_path, FAULTS["loss"])
