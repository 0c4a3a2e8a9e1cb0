# SPDX-License-Identifier: BSD-3-Clause
"""Connected queue pairs under every fault of a cable: test/verbs/transport.c checks content, order and number."""
import json
import pathlib
import re
import subprocess
import time

import pytest
from harness import card as cards
from harness import paths
from harness.both import MACS
from harness.patience import until
from harness.program import run_on_softhca

PROGRAM = str(paths.BUILD / "test" / "verbs" / "verbs-transport")
PAIR = [f"wire=pair:roce,mac={mac}" for mac in MACS]
FAULTS = {
    "loss": ["loss 1%"], "duplicates": ["duplicate 5%"], "late": ["reorder 5% by 4"], "damage": ["corrupt 1%"],
    "cut": ["truncate 1%"], "all": ["loss 1%", "duplicate 1%", "reorder 1% by 3", "corrupt 1%", "truncate 1%"],
}


def run(words, ports, tmp_path, faults=(), options=()):
    if faults:
        (tmp_path / "faults").write_text("".join(f"{line}\n" for line in ["seed 7", *(f"wire {one}" for one in faults)]))
        options = [*options, "--faults", str(tmp_path / "faults")]
    status, text = run_on_softhca([PROGRAM, *words], ports, options=options)
    assert status == 0 and re.search(r"^[1-9]\d* checks, 0 failed", text, re.M), text
    return text


@pytest.mark.parametrize("ports", [["wire=loop"], PAIR], ids=["one port", "pair"])
def test_good_cable(ports, tmp_path):
    run([], ports, tmp_path)


def test_a_thread_an_end(tmp_path):
    run([], PAIR, tmp_path, options=["--threads", "2"])


@pytest.mark.parametrize("faults", FAULTS)
def test_bad_cable(faults, tmp_path):
    text = run([], PAIR, tmp_path, FAULTS[faults])
    assert len(re.findall(r"^softhca: faults: line \d+: wire .*: [1-9]\d* times$", text, re.M)) == len(FAULTS[faults]), text


def kilobytes(pid):
    return int(re.search(r"^VmRSS:\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M).group(1))


@pytest.mark.long
def test_a_thousand_queue_pairs(tmp_path):
    """A million messages each way at 1 % loss: the program checks them, and the card's memory stays what it is once all
    connections have been used."""
    (tmp_path / "faults").write_text("seed 7\nwire loss 1%\n")
    with cards.up(*PAIR, options=["--faults", tmp_path / "faults"]) as card:
        keeper, sizes = cards.keeper_of(card), []
        with subprocess.Popen(cards.on(card, PROGRAM, "1000", "1000", "256"), stdout=subprocess.PIPE, text=True) as process:
            while process.poll() is None:
                sizes.append(kilobytes(keeper))
                time.sleep(0.5)
            text = process.stdout.read()
        assert process.returncode == 0 and re.search(r"^[1-9]\d* checks, 0 failed", text, re.M), text
        early, later = sizes[:len(sizes) // 2], sizes[len(sizes) // 2:]
        print(f"kilobytes of the keeper: at most {max(early)}, later {max(later)}, {len(sizes)} looks")
        assert len(later) > 5 and max(later) <= 1.02 * max(early), sizes


BROKEN = str(paths.BUILD / "test" / "verbs" / "verbs-broken")
# Each posts three sends and three receives; those behind the first are flushed, and all of a side that only hears of it.
SENDER = {"req_cqe_error": 3, "req_cqe_flush_error": 2}
HEARD = {"resp_cqe_error": 3, "resp_cqe_flush_error": 3}
REFUSED = ({**SENDER, "req_remote_access_errors": 1}, {**HEARD, "resp_remote_access_errors": 1})
INVALID = ({**SENDER, "req_remote_invalid_request": 1}, HEARD)
# case: counters of the sender's port and of the receiver's that are not 0
CASES = {
    "write-key": REFUSED, "write-bound": REFUSED, "read-key": REFUSED, "atomic-key": REFUSED,
    "write-access": INVALID, "atomic-access": INVALID, "atomic-alignment": INVALID,
    "read-mtu": (SENDER, {"rx_read_requests": 1}),
    "send-key": (SENDER, {}),
    "receive-key": (SENDER, {"resp_cqe_error": 3, "resp_cqe_flush_error": 2}),
    "receive-short": ({**SENDER, "req_remote_invalid_request": 1},
                      {"resp_cqe_error": 3, "resp_cqe_flush_error": 2, "resp_local_length_error": 1}),
    "no-receive": ({**SENDER, "rnr_nak_retry_err": 2}, {"out_of_buffer": 3}),
    "no-peer": ({**SENDER, "local_ack_timeout_err": 2}, {}),
}


def counters_of(card):
    """Of both ports, in sysfs: those that are not 0."""
    text = cards.run_on(card, "sh", "-c", "cd $SYSFS_PATH/class/infiniband; grep . */ports/1/hw_counters/*").stdout
    found = {"mlx5_0": {}, "mlx5_1": {}}
    for device, name, count in re.findall(r"^(mlx5_\d)/ports/1/hw_counters/(\w+):(\d+)$", text, re.M):
        if name != "lifespan" and int(count) != 0:
            found[device][name] = int(count)
    return found["mlx5_0"], found["mlx5_1"]


def test_all_cases_are_here():
    assert set(cards.softhca("run", "--", BROKEN).stdout.split()) >= set(CASES) and len(CASES) == 13


@pytest.mark.parametrize("case", CASES)
def test_what_breaks_a_connection(case):
    """Both sides' completions, events and states, which the program checks; and what the ports count. One thread serves
    both: with two a side may wait for the other's CPU, and counts that its answer came late."""
    with cards.up(*PAIR, options=["--threads", "1"]) as card:
        done = cards.run_on(card, BROKEN, case)
        assert re.search(r"^[1-9]\d* checks, 0 failed", done.stdout, re.M), done.stdout
        until(lambda: counters_of(card) == CASES[case])


def test_counters_of_a_good_cable():
    """Requests are counted by the port that they come to; nothing is wrong."""
    with cards.up(*PAIR) as card:
        text = cards.run_on(card, PROGRAM).stdout
        writes, reads, atomics = (int(number) for number in re.search(r"^(\d+) writes, (\d+) reads, (\d+) atomics", text, re.M).groups())
        wanted = {"rx_write_requests": writes, "rx_read_requests": reads, "rx_atomic_requests": atomics}
        until(lambda: {name: sum(port.get(name, 0) for port in counters_of(card)) for name in wanted} == wanted)
        assert not [name for port in counters_of(card) for name in port if "cqe" in name or "remote" in name]


def test_counters_of_a_bad_cable(tmp_path):
    """Of what the faults did, each kind is seen by a counter; RDMA netlink tells the same. What a lost frame leads to
    depends on what is under way at that moment, so one run of the program need not have seen all kinds on both sides."""
    (tmp_path / "faults").write_text("seed 7\nwire loss 1%\nwire duplicate 1%\n")
    wanted = {"out_of_sequence", "duplicate_request", "packet_seq_err", "implied_nak_seq_err", "local_ack_timeout_err"}
    with cards.up(*PAIR, options=["--faults", tmp_path / "faults"]) as card:
        def all_seen():
            cards.run_on(card, PROGRAM)
            return all(wanted <= set(port) for port in counters_of(card))

        until(all_seen)
        (one, _) = json.loads(cards.run_on(card, "/usr/bin/rdma", "-j", "statistic", "show").stdout)
        assert {name: count for name, count in one.items() if count and name not in ("ifname", "port")} == counters_of(card)[0]
