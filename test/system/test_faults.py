# SPDX-License-Identifier: BSD-3-Clause
"""softhca run --faults: bad cables and failing verbs, below stock testpmd on our driver."""
import os
import re
import subprocess
import time

import pytest
from harness import frames, paths, pcapfile
from harness.patience import PATIENCE
from harness.testpmd import Testpmd

MAC = frames.PORT_MAC
NB = 200


def softhca(faults, tmp_path, *command, env=None):
    """softhca run with a faults file of that text."""
    file = tmp_path / "faults"
    file.write_text(faults)
    return subprocess.run([paths.SOFTHCA, "run", "--faults", file, "--", *command], env=env, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=PATIENCE, check=False)


def applied(text):
    """{fault: how many times} of the runner's summary."""
    return {line: 0 if times == "never" else int(times.split()[0]) for line, times in
            re.findall(r"^softhca: faults: line \d+: (.*): (never|\d+ times?)$", text, re.M)}


@pytest.mark.parametrize("text,error", [
    ("wire loss 1%\nwire looss 1%\n", "line 2: 'looss': wire is followed by one of loss, duplicate, reorder, corrupt, "
                                      "truncate"),
    ("wire loss 1% of mlx5_1\n", "line 1: 'mlx5_1': of is followed by a device, mlx5_0 to mlx5_0"),
    ("verb enomem CREATE_QPS at 3\n", "line 1: 'CREATE_QPS': there are any, GET_CONTEXT, QUERY_DEVICE"),
    ("# nothing\n\nwire loss\n", "line 3: 'wire loss' does not say when: at N, every N or from N frames, or P% of "
                                 "them"),
    ("wire loss 1%\0", "not a text"),
])
def test_a_bad_file_is_refused_before_the_command_runs(tmp_path, text, error):
    done = softhca(text, tmp_path, "touch", tmp_path / "ran")
    assert done.returncode == 125
    assert done.stderr.startswith(f"softhca: --faults {tmp_path}/faults: {error}")
    assert not (tmp_path / "ran").exists()


def test_a_missing_file_is_refused(tmp_path):
    done = subprocess.run([paths.SOFTHCA, "run", "--faults", tmp_path / "none", "--", "true"], capture_output=True,
                          text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stderr) == (125, f"softhca: --faults {tmp_path}/none: No such file or directory\n")


def test_the_commands_status_is_kept(tmp_path):
    done = softhca("seed 3\nwire   loss 1% # all\n", tmp_path, "sh", "-c", "exit 7")
    assert (done.returncode, done.stderr) == (7, "softhca: faults: line 2: wire loss 1%: never\n")
    assert softhca("", tmp_path, "true").stderr == ""


class Pmd(Testpmd):
    """testpmd with a faults file; `faults` is what was applied, once it has ended."""

    def __init__(self, tmp_path, text, **options):
        file = tmp_path / "faults"
        file.write_text(text)
        # softhca reads its options before --.
        super().__init__(softhca_options=("--faults", file), **options)

    @property
    def faults(self):
        return applied(self.terminal.text)


def numbered(number):
    return frames.packet(sport=number + 1, data=bytes((number + i) & 255 for i in range(60)))


SENTINEL = frames.packet(sport=9999)


def forward(tmp_path, text):
    """What is left of NB numbered frames that are received, forwarded and sent.

    Sentinels follow them, so many that no cable loses or damages all: once one has come, all is there.
    """
    capture, result = tmp_path / "in.pcap", tmp_path / "out.pcap"
    pcapfile.write(capture, [numbered(i) for i in range(NB)] + [SENTINEL] * 40)
    result.unlink(missing_ok=True)
    with Pmd(tmp_path, text, ports=[f"wire=pcap:{capture}:{result},pace=0,mac={MAC}"]) as pmd:
        pmd.cmd("set fwd io")
        pmd.cmd("start")
        end = time.monotonic() + PATIENCE
        while SENTINEL not in pcapfile.read(result):
            assert time.monotonic() < end, pmd.stats()
            time.sleep(0.02)
        pmd.stop()
    got = pcapfile.read(result)
    return got[:got.index(SENTINEL)], pmd.faults


def test_a_cable_that_strikes_at_frames(tmp_path):
    """Each fault where the file says, in the frames received and in those sent."""
    text = """
wire loss every 50 frames
wire duplicate at 10
wire reorder at 20 by 3
wire truncate at 30 to 64 bytes
wire corrupt at 40
wire loss at 101 tx
"""
    wanted = [i for i in range(NB) if (i + 1) % 50]
    wanted.insert(9, 9)
    wanted.remove(19)
    wanted.insert(wanted.index(22) + 1, 19)
    del wanted[100]
    got, faults = forward(tmp_path, text)
    assert len(got) == len(wanted)
    damaged = {}
    for frame, number in zip(got, wanted):
        if frame != numbered(number):
            damaged[number] = frame
    assert set(damaged) == {29, 39}
    assert damaged[29] == numbered(29)[:64]
    turned = [a ^ b for a, b in zip(damaged[39], numbered(39)) if a != b]
    assert len(turned) == 1 and bin(turned[0]).count("1") == 1 and len(damaged[39]) == len(numbered(39))
    assert faults == {"wire loss every 50 frames": 4, "wire duplicate at 10": 1, "wire reorder at 20 by 3": 1,
                      "wire truncate at 30 to 64 bytes": 1, "wire corrupt at 40": 1, "wire loss at 101 tx": 1}


def test_the_same_seed_is_the_same_cable(tmp_path):
    text = "wire loss 5%\nwire duplicate 5%\nwire corrupt 5%\nwire truncate 5%\nseed {}\n"
    stories = []
    for seed in (1, 1, 2):
        got, faults = forward(tmp_path, text.format(seed))
        stories.append(got)
        assert all(faults.values())
    assert stories[0] == stories[1]
    assert stories[0] != stories[2]


# What the driver says when it cannot have what it needs.
PROBES = {
    "GET_CONTEXT from 1": "cannot open /dev/infiniband/uverbs0",
    "ALLOC_PD at 1": "cannot allocate a protection domain: Cannot allocate memory",
    "QUERY_PORT from 2": "cannot query port 1: Cannot allocate memory",
}
STARTS = {
    "CREATE_CQ at 3": "cannot create a CQ of",
    "CREATE_QP at 2": "Tx queue 0: cannot create a QP of",
    "CREATE_WQ at 1": "Rx queue 0: cannot create a WQ of",
    "CREATE_RWQ_IND_TBL at 1": "",
    "REG_MR at 1": "cannot register",
    "MODIFY_WQ at 1": "Rx queue 0: cannot move the WQ to state 1: Cannot allocate memory",
}


@pytest.mark.parametrize("verb", PROBES)
def test_a_verb_that_fails_while_probing(tmp_path, verb):
    plugin, env = paths.plugin()
    done = softhca(f"verb enomem {verb}\n", tmp_path, "dpdk-testpmd", "-l", "0,1", "--no-huge", "-m", "64", "--no-pci",
                   "--no-telemetry", "--file-prefix", f"mdvf{os.getpid()}", "-d", plugin,
                   "--vdev", "net_mlx5dv0,ibdev=mlx5_0", "--", "--total-num-mbufs=2048",
                   env=dict(os.environ, **env))
    # testpmd does without ports, or says that it cannot.
    assert done.returncode in (0, 1), done.stdout + done.stderr
    assert PROBES[verb] in done.stdout + done.stderr
    assert applied(done.stderr)[f"verb enomem {verb}"] != 0


def test_a_port_starts_after_verbs_that_failed(tmp_path):
    """Each of them fails a start, which leaves nothing behind; the next start is sound."""
    nb = len(STARTS)
    text = "".join(f"verb enomem {verb}\n" for verb in STARTS)
    with Pmd(tmp_path, text, args=["--rxq=2", "--txq=2", "--disable-device-start"],
             env={"SOFTHCA_LOG": "info"}) as pmd:
        for _ in range(2 * nb):
            if "Cannot allocate memory" not in pmd.cmd("port start 0"):
                break
        else:
            raise AssertionError(pmd.terminal.text[-3000:])
        for said in STARTS.values():
            assert said in pmd.terminal.text
        pmd.cmd("start tx_first")
        pmd.wait_stats(lambda stats: stats["RX-packets"] > 1000)
        pmd.stop()
    assert set(pmd.faults.values()) == {1}
    assert "left to the kernel to destroy" not in pmd.terminal.text


def test_a_trial_rule_that_fails_for_another_reason_is_told(tmp_path):
    """The port comes up without the feature; its user learns that this is not the device's doing."""
    with Pmd(tmp_path, "verb enomem CREATE_FLOW at 9\n") as pmd:
        assert pmd.banner.count("rules with it will be refused") == 1
        assert re.search(r"mlx5_0: match on [^:]*: Cannot allocate memory; rules with it", pmd.banner)
    assert set(pmd.faults.values()) == {1}
    with Testpmd() as pmd:
        assert "rules with it will be refused" not in pmd.banner
