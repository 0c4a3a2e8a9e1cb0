# SPDX-License-Identifier: BSD-3-Clause
"""perftest's raw Ethernet programs in every mode they have, unmodified, between two processes.

One row a mode; an option that --help lists is in a row, or in REFUSED with what perftest says, or in the list at the end.
"""
import functools
import os
import re
import subprocess

import pytest
from harness.program import run_on_softhca
from harness.terminal import Terminal
from harness.testpmd import softhca_argv

SERVER_MAC, CLIENT_MAC = "02:00:00:00:00:10", "02:00:00:00:00:20"
# Raw Ethernet has no flow control: a ring that holds all frames loses none, whoever gets the CPU.
DEEP = ["-r", "4096"]
BW, LAT, BURST = "raw_ethernet_bw", "raw_ethernet_lat", "raw_ethernet_burst_lat"
# Source and destination are those of the frames that the client sends, on both sides.
IPV4 = ["-j", "192.0.2.2", "-J", "192.0.2.1"]
IPV6 = ["--raw_ipv6", "-j", "2001:db8::2", "-J", "2001:db8::1"]
PORTS = ["-k", "5000", "-K", "4000"]
PACED = ["--rate_limit=100", "--rate_limit_type=PP", "--rate_units=M"]
# -Q is not in this program's help: without it none of its sends is signalled, and it waits for completions for ever.
# And a server whose send queue is full does not answer, which its client does not get over either; nor does one that
# is paced send all its answers before it destroys its queue. So the client alone is.
ANSWERED = ["-Q", "1", "-t", "256"]

# name: program, options of both, of the server, of the client, frames (None: for a time)
MODES = {
    "both ways": (BW, ["-b", "--report-both", "-l", "8", "--recv_post_list=8"], [], [], 512),
    "client receives": (BW, ["--reversed"], [], [], 500),
    "IPv4": (BW, [*IPV4, "-T", "32", "-L", "7"], [], [], 500),
    "IPv6": (BW, [*IPV6, "--tclass=8"], [], [], 500),
    "UDP over IPv6": (BW, [*IPV6, *PORTS], [], [], 500),
    "TCP": (BW, [*IPV4, *PORTS, "--tcp"], [], [], 500),
    "flows": (BW, [*IPV4, *PORTS, "--flows=8", "--flows_burst=4"], [], [], 512),
    "Ethernet type": (BW, ["--ethertype=0x88b5"], [], [], 500),
    "VLAN": (BW, ["--vlan_en"], [], [], 500),
    "VLAN of one priority": (BW, ["--vlan_en", "--vlan_pcp", "3"], [], [], 500),
    "VLAN of all priorities": (BW, ["--vlan_en", "--vlan_pcp", "8"], [], [], 500),
    "promiscuous": (BW, ["--promiscuous"], [], [], 500),
    "promiscuous, multicast frames": (BW, [], ["--promiscuous"], ["--raw_mcast"], 500),
    "sniffer": (BW, [], ["--sniffer"], [], 500),
    "forwarding": (BW, [], ["-v"], [], 200),
    "queue pairs": (BW, ["-q", "2", "--mr_per_qp", "-Q", "1"], [], [], 500),
    "for a time": (BW, ["-D", "2", "-f", "0", "--cpu_util"], [], [], None),
    "inline": (BW, ["-I", "64", "-N", "-s", "64"], [], [], 500),
    "old posts": (BW, ["--use_old_post_send", "--report_gbits", "--disable_pcie_relaxed", "-t", "64"], [], [], 500),
    "without locks": (BW, ["--no_lock"], [], [], 500),
    "inline receive": (BW, [], ["--inline_recv=32"], [], 500),
    "large": (BW, ["-m", "9600", "-s", "9000"], [], [], 300),
    "least rates": (BW, ["--wait_destroy=1"], [], ["-w", "0.0001", "-y", "0.00001"], 500),
    "paced by program": (BW, [], [], ["--rate_limit=1", "--rate_limit_type=SW", "--burst_size=10"], 500),
    "paced by device": (BW, [], [], [*PACED, "--burst_size=4", "--typical_pkt_size=128"], 500),
    "latency": (LAT, ["-H", "-C"], [], [], 20),
    "latency, unsorted": (LAT, ["-U", "--latency_gap=100"], [], [], 20),
    "latency of IPv4": (LAT, IPV4, [], [], 20),
    "latency of UDP flows": (LAT, [*IPV4, *PORTS, "--flows=4", "--flows_burst=2"], [], [], 20),
    "latency of TCP over IPv6": (LAT, [*IPV6, *PORTS, "--tcp"], [], [], 20),
    "latency of VLAN": (LAT, ["--vlan_en"], [], [], 20),
    "latency, promiscuous": (LAT, ["--promiscuous", "-I", "64", "-s", "64"], [], [], 20),
    "latency, sniffer": (LAT, ["--sniffer"], [], [], 20),
    "latency, forwarding": (LAT, ["-v"], [], [], 20),
    "latency for a time": (LAT, ["-D", "2", "-f", "0"], [], [], None),
    "bursts": (BURST, [*ANSWERED, "--rate_limit=10", "--burst_size=16"], [], [], 160),
    "bursts, paced by device": (BURST, [*ANSWERED, "--burst_size=16"], ["--rate_limit=10"], PACED, 160),
    "bursts of UDP": (BURST, [*ANSWERED, *IPV4, *PORTS, "--reply_every=4", "--burst_size=16"], ["--rate_limit=10"],
                      PACED, 160),
}


class Side:
    """One of the two processes on a wire."""

    def __init__(self, wire, is_server, program, options):
        mac, peer = (SERVER_MAC, CLIENT_MAC) if is_server else (CLIENT_MAC, SERVER_MAC)
        argv = [program, "-d", "mlx5_0", "-F", "-Z" if is_server else "-P", "-B", mac, "-E", peer, *options]
        self.terminal = Terminal(softhca_argv([f"wire=unix:{wire},mac={mac}"], argv), env=dict(os.environ))

    def has_queues(self):
        """The table's head is printed when they are in place."""
        self.terminal.expect(r"#bytes", 0)

    def end(self):
        status = self.terminal.wait()
        assert status == 0, self.terminal.text
        return self.terminal.text

    def close(self):
        self.terminal.close()


@functools.cache
def listed(program):
    """The long options of its help."""
    text = subprocess.run([program, "--help"], capture_output=True, text=True, check=False).stdout
    return set(re.findall(r"^\s+(?:-\w, )?(--[\w-]+)", text, re.M))


def iterations(text):
    """The table's row: bytes, iterations, and what was measured."""
    row = re.search(r"^\s*\d+\s+(\d+)(?:\s+[\d.]+)+", text[text.index("#bytes"):], re.M)
    assert row, text
    return int(row.group(1))


# The others of this program are options that the other program has, too.
OF_LATENCY = ["latency", "latency of VLAN", "latency, forwarding"]


@pytest.mark.parametrize("mode", [pytest.param(mode, marks=pytest.mark.long) if row[0] == LAT and mode not in OF_LATENCY else mode
                                  for mode, row in MODES.items()])
def test_mode(tmp_path, mode):
    """Both come to their end, and count what was asked for."""
    program, common, server, client, frames = MODES[mode]
    missing = {option.split("=")[0] for option in [*common, *server, *client] if option[:2] == "--"} - listed(program)
    if missing:
        pytest.skip(f"this perftest has no {' '.join(missing)}")
    options = ([] if "-s" in common else ["-s", "128"]) + ([] if frames is None else ["-n", str(frames)])
    options += [*common, *DEEP]
    is_reversed = "--reversed" in common
    receiver = Side(tmp_path / "wire", not is_reversed, program, options + (client if is_reversed else server))
    try:
        receiver.has_queues()
        sender = Side(tmp_path / "wire", is_reversed, program, options + (server if is_reversed else client))
        try:
            sent = iterations(sender.end())
        finally:
            sender.close()
        text = receiver.end()
    finally:
        receiver.close()
    wanted = None if frames is None else frames * (2 if "-q" in common else 1)
    assert sent == wanted if wanted else sent > 0
    if program == BW:
        assert iterations(text) == wanted if wanted else iterations(text) > 0, text


# Whose help lists it, and what it cannot be had for, whatever the device.
REFUSED = {
    "RSS is of experimental verbs": (BW, ["--use_rss", "-q", "2"],
                                     "RSS feature is not available in libibverbs|RSS isn't supported"),
    "no short form of RSS": (BW, ["-G"], "invalid option -- 'G'"),
    "no short form of the Ethernet type": (BW, ["-Y", "0x88b5"], "invalid option -- 'Y'"),
    "on-demand paging": (BW, ["--odp"], "not supported for RC transport|does not support On-Demand Paging"),
    "static rates of InfiniBand": (BW, ["--rate_limit=10", "--rate_limit_type=HW", "-b"], "failed to accept HW rate limit"),
    "bursts, as the help has it": (BURST, [], "SW Rate limiter cann't be executed on non-BW"),
    "TCP without addresses": (BW, ["--tcp"], "Please provide UDP information"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refusal(what):
    program, options, message = REFUSED[what]
    status, text = run_on_softhca([program, "-d", "mlx5_0", "-F", "-Z", "-s", "128", "-B", SERVER_MAC, "-E", CLIENT_MAC,
                                   *options], ["wire=loop"])
    # Each release has its own words, where there is an alternative.
    assert status != 0 and any(words in text for words in message.split("|")), text


RULES = {
    "MAC": [], "Ethernet type": ["--ethertype=0x88b5"], "VLAN": ["--vlan_en"], "IPv4": IPV4, "UDP": [*IPV4, *PORTS],
    "TCP over IPv6": [*IPV6, *PORTS, "--tcp"], "histogram": ["-H"], "unsorted": ["-U"], "promiscuous": ["--promiscuous"],
}


@pytest.mark.parametrize("rule", RULES)
def test_rate_of_rules(rule):
    """raw_ethernet_fs_rate makes and destroys rules; there is no other side."""
    status, text = run_on_softhca(["raw_ethernet_fs_rate", "-d", "mlx5_0", "-F", "-Z", "-B", SERVER_MAC, "-n", "200",
                                   *RULES[rule]], ["wire=loop"])
    assert status == 0 and re.search(r"^\s*200(\s+[\d.]+){5}\s*$", text, re.M), text


def client(capture, options):
    """A client alone: the frames of its capture."""
    status, text = run_on_softhca([BW, "-d", "mlx5_0", "-F", "-P", "-s", "128", "-n", "16", "-B", CLIENT_MAC, "-E",
                                   SERVER_MAC, *options], [f"wire=pcap::{capture}"])
    assert status == 0, text
    data, at, frames = capture.read_bytes(), 24, []
    while at < len(data):
        length = int.from_bytes(data[at + 8:at + 12], "little")
        frames.append(data[at + 16:at + 16 + length])
        at += 16 + length
    assert len(frames) == 16
    return frames


def test_what_is_sent(tmp_path):
    """The frames are those that the options say."""
    frames = client(tmp_path / "vlan", ["--vlan_en", "--vlan_pcp", "3"])
    assert all(frame[12:14] == b"\x81\0" and frame[14] >> 5 == 3 for frame in frames)
    frames = client(tmp_path / "mcast", ["--raw_mcast"])
    assert all(frame[0:3] == b"\x01\0\x5e" for frame in frames)
    frames = client(tmp_path / "ip", [*IPV4, "-T", "32", "-L", "7"])
    assert all(frame[15] == 32 and frame[22] == 7 for frame in frames)
    frames = client(tmp_path / "flows", [*IPV4, *PORTS, "--flows=4", "--flows_burst=1"])
    assert len({frame[34:38] for frame in frames}) == 4
    # --flow_label is in the server's rule only: perftest's client never writes one.
    frames = client(tmp_path / "label", [*IPV6, "--flow_label=77"])
    assert all(frame[14:18] == b"\x60\0\0\0" for frame in frames)


def test_server_takes_a_flow_label(tmp_path):
    """And from who does write it, the server takes it: frames of a capture, which waits for receive WQEs."""
    frame = (bytes.fromhex("020000000010020000000020") + b"\x86\xdd" + bytes([0x60, 0, 0, 77]) + (70).to_bytes(2, "big") +
             b"\x3b\x40" + bytes.fromhex("20010db8000000000000000000000002" "20010db8000000000000000000000001") + bytes(70))
    header = bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000")
    record = bytes(8) + len(frame).to_bytes(4, "little") * 2 + frame
    (tmp_path / "in").write_bytes(header + record * 16)
    status, text = run_on_softhca([BW, "-d", "mlx5_0", "-F", "-Z", "-s", "128", "-n", "16", "-B", SERVER_MAC, "-E",
                                   CLIENT_MAC, *IPV6, "--flow_label=77"],
                                  [f"wire=pcap:{tmp_path}/in:,delay=500,pace=0,mac={SERVER_MAC}"])
    assert status == 0 and iterations(text) == 16, text


def test_report_as_json(tmp_path):
    status, text = run_on_softhca([BW, "-d", "mlx5_0", "-F", "-P", "-s", "128", "-n", "100", "-B", CLIENT_MAC, "-E", SERVER_MAC,
                                   "--out_json", f"--out_json_file={tmp_path}/report"], ["wire=loop"])
    report = (tmp_path / "report").read_text()
    assert status == 0 and re.search('"?n_iterations"?: 100', report), text + report


@pytest.mark.parametrize("unit", ["bandwidth", "message_rate"])
def test_one_number(unit):
    """--output prints nothing else."""
    status, text = run_on_softhca([BW, "-d", "mlx5_0", "-F", "-P", "-s", "128", "-n", "100", "-B", CLIENT_MAC, "-E", SERVER_MAC,
                                   f"--output={unit}"], ["wire=loop"])
    assert status == 0 and re.search(r"^[\d.]+\s*$", text, re.M), text


# Of no meaning to raw Ethernet (of RDMA, of several ports or of the machine), or known from other tests; -W reads counters
# that perftest's raw programs never open (it waits for them on standard input), --run_infinitely has no end,
# --perform_warm_up is of RDMA writes, --use_hugepages wants some.
# --use-srq: shared receive queues are for queue pairs with a transport (test_pingpong.py), and raw ones get nothing then.
ELSEWHERE = set("""--use-srq -g --mcg -h --help -i --ib-port -M --MGID -p --port -S --sl -u --qp-timeout -V --version -W --report-counters
    --dlid --congest_type --connectionless --no_ddp --force-link --perform_warm_up --pkey_index --use_hugepages --run_infinitely -e -d --ib-dev -F --CPU-freq -n --iters
    -s --size -m --mtu -r --rx-depth -t --tx-depth -B --source_mac -E --dest_mac -Z --server -P --client""".split())
LONG = {"-b": "--bidirectional", "-D": "--duration", "-f": "--margin", "-I": "--inline_size", "-l": "--post_list",
        "-L": "--hop_limit", "-N": "--noPeak", "-q": "--qp", "-Q": "--cq-mod", "-T": "--tos", "-w": "--limit_bw",
        "-y": "--limit_msgrate", "-G": "--use_rss", "-J": "--dest_ip", "-j": "--source_ip", "-K": "--dest_port",
        "-k": "--source_port", "-Y": "--ethertype", "-v": "--mac_fwd", "-C": "--report-cycles", "-H": "--report-histogram",
        "-U": "--report-unsorted"}


@pytest.mark.parametrize("program", [BW, LAT, BURST, "raw_ethernet_fs_rate"])
def test_no_option_is_forgotten(program):
    options = listed(program)
    source = open(__file__, encoding="utf-8").read()
    tried = {LONG.get(option, option) for option in re.findall(r'"(-\w|--[\w-]+)', source)}
    assert options and not options - tried - ELSEWHERE, options - tried - ELSEWHERE
