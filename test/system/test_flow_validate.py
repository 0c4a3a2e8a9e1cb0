# SPDX-License-Identifier: BSD-3-Clause
"""validate against create on the device: one verdict, one message, no trace; and rules that share destinations."""
import json
import os
import random
import re
import subprocess

import pytest
import rte_flow_wild
from harness import dpdk, paths
from harness.patience import PATIENCE
from harness.program import run_on_softhca
from harness.testpmd import Testpmd, eal_args, eal_prefix, remove_runtime_dir
from rte_flow_random import QUEUES, Generator
from test_flow_tunnels_random import new_rule

BATCH = 40
ANSWERS = re.compile(r"Flow rule validated|Flow rule #(\d+) created|Caught PMD error type (\d+ \([^)]*\)): "
                     r"(?:cause: 0x[0-9a-f]+, )?([^\n]*)")


@pytest.fixture(name="bed")
def make_bed(tmp_path):
    with Testpmd(ports=["wire=null"], args=[f"--rxq={QUEUES}", f"--txq={QUEUES}"],
                 softhca_options=("--ctl", tmp_path / "ctl")) as pmd:
        for queue in range(QUEUES):
            pmd.cmd(f"set sample_actions {queue} queue index {queue} / end")
        yield Bed(pmd, tmp_path)


class Bed:
    """testpmd and what a look at its device shows."""

    def __init__(self, pmd, path):
        self.pmd, self.path = pmd, path

    def load(self, lines):
        """What testpmd says to lines of a file."""
        file = self.path / "commands"
        file.write_text(dpdk.typed("".join(f"{line}\n" for line in lines)))
        said = self.pmd.load(file)
        assert "Bad arguments" not in said and "Command not found" not in said, said[-2000:]
        return said

    def ask(self, *words):
        return subprocess.run([paths.SOFTHCA, "ctl", self.path / "ctl", *words], text=True, timeout=PATIENCE,
                              stdout=subprocess.PIPE, check=True).stdout

    def objects(self):
        """Rules and queues of the device, and how many destinations and tables; no counters of packets."""
        port = json.loads(self.ask("stats", "--json"))["ports"][0]
        queues = [(queue["kind"], queue["number"], queue["state"]) for queue in port["queues"]]
        return self.ask("dump"), queues, port["tirs"], port["rqts"]


def random_rules(rng, nb):
    generator = Generator(rng.random(), None)
    kinds = (lambda: rte_flow_wild.rule(rng),) * 3 + (lambda: generator.rule()[1], lambda: new_rule(rng)[1])
    made = [rng.choice(kinds)() for _ in range(2 * nb)]
    return [text for text in made if len(text) < 400][:nb]


@pytest.mark.parametrize("seed", range(int(os.environ.get("MDV_SEMANTICS_SEEDS", "1"))))
def test_validate_is_as_strict_as_create(bed, seed):
    rng = random.Random(f"validate {seed}")
    accepted, refused, living = 0, {}, []
    empty = bed.objects()
    for _ in range(15):
        rules = random_rules(rng, BATCH)
        before = bed.objects()
        bed.load(f"flow validate 0 {rule}" for rule in rules)
        assert bed.objects() == before
        said = ANSWERS.findall(bed.load(f"flow {verb} 0 {rule}" for rule in rules for verb in ("validate", "create")))
        assert len(said) == 2 * BATCH
        for rule, (_, *validated), (number, *created) in zip(rules, said[::2], said[1::2]):
            assert validated == created, rule
            accepted += number != ""
            living += [number] if number else []
            if not number:
                refused[re.sub(r"\d+", "#", created[1])] = rule
        rng.shuffle(living)
        bed.load(f"flow destroy 0 rule {number}" for number in living[15:])
        living = living[:15]
    bed.pmd.cmd("flow flush 0")
    assert bed.objects() == empty
    print(f"{accepted} rules accepted, {len(refused)} different refusals")
    assert accepted > 150 and len(refused) > 50


def test_ten_thousand_rules_share_one_destination(tmp_path):
    """The device's own count: one TIR, which is the QP's, and one indirection table more than without rules."""
    look, prefix = tmp_path / "look", eal_prefix()
    look.write_text(f"{paths.SOFTHCA} ctl stats --json > {tmp_path}/stats.$1 &&"
                    f" {paths.SOFTHCA} ctl dump > {tmp_path}/dump.$1\n")
    command = [str(paths.BUILD / "test/ethdev/ethdev-many-rules"),
               *eal_args(prefix, ["net_mlx5dv0,ibdev=mlx5_0"], lcores="0", memory=128),
               "--", f"sh {look}", "10000"]
    try:
        status, text = run_on_softhca(command, ["wire=null"])
    finally:
        remove_runtime_dir(prefix)
    assert status == 0, text

    def counts(state):
        port = json.loads((tmp_path / f"stats.{state}").read_text())["ports"][0]
        return port["tirs"], port["rqts"], len(port["queues"])

    tirs, rqts, queues = counts("none")
    assert counts("one") == counts("many") == (tirs + 1, rqts + 1, queues)
    assert counts("gone") == (tirs, rqts, queues)
    entries = {state: (tmp_path / f"dump.{state}").read_text().count("out.dst_ip:10.0.")
               for state in ("none", "one", "many", "gone")}
    assert entries == {"none": 0, "one": 1, "many": 10000, "gone": 0}
