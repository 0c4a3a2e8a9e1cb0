# SPDX-License-Identifier: BSD-3-Clause
"""DPDK's in-tree mlx5 driver, unmodified, on our rings, steering and verbs."""
import contextlib
import random
import struct
import time

import pytest
from harness import dpdk, frames
from harness.cable import Cable
from harness.intree import InTreeTestpmd
from harness.patience import PATIENCE
from harness.rounds import rounds

MAC = frames.PORT_MAC
RX_CHECKSUM, RX_VLAN_STRIP, RX_RSS_HASH = 0xE, 0x1, 0x80000
RX_SCATTER, TX_MULTI_SEGS = 0x2000, 0x8000
LAST_PORT = 9999
# The driver's default.
KEY = bytes.fromhex("2cc681d15bdbf4f7fca28319db1a3e946b9e38d92c9c03d1ad9944a7d9563d59"
                    "063c25f3fc1fdc2a")

pytestmark = pytest.mark.usefixtures("tap_allowed")


@contextlib.contextmanager
def receiving(tmp_path, args=(), rules=(), queues=4, devargs=""):
    """A port that prints what it receives, and the far end of its cable."""
    with InTreeTestpmd(f"wire=unix:{tmp_path}/wire,mac={MAC}",
                       args=[f"--rxq={queues}", f"--txq={queues}", *args],
                       devargs=devargs) as pmd, \
            Cable(tmp_path / "wire") as peer:
        for rule in rules:
            pmd.flow(rule)
        start = pmd.show_received()
        yield pmd, peer, start


def collect(peer, is_done):
    """Frames from the far end until `is_done(frames)`.

    What Linux says unasked on the TAP goes to the wire as well: IPv6 multicast, left out.
    """
    got = []
    while not is_done(got):
        frame = peer.receive(PATIENCE)
        assert frame is not None, f"no more came back than {len(got)} frames"
        if frame[:2] != b"\x33\x33":
            got.append(frame)
    return got


@contextlib.contextmanager
def forwarding(tmp_path, args=(), fwd="io", setup=(), devargs="", port=""):
    """A port that sends what it receives, and the far end of its cable."""
    with InTreeTestpmd(f"wire=unix:{tmp_path}/wire,mac={MAC}{port}",
                       args=["--disable-device-start", *args], devargs=devargs) as pmd, \
            Cable(tmp_path / "wire") as peer:
        for line in setup:
            answer = pmd.cmd(line)
            assert "not supported" not in answer and "rror" not in answer, f"{line}\n{answer}"
        pmd.cmd(f"set fwd {fwd}")
        pmd.cmd("port start 0")
        pmd.cmd("start")
        yield pmd, peer
        pmd.cmd("stop")
        stats = pmd.stats()
        assert stats["RX-errors"] == 0 and stats["TX-errors"] == 0, stats


def circulate(tmp_path, sent, args=(), fwd="io", setup=()):
    """Frames from the far end of the cable, through testpmd, and back; what came back."""
    with forwarding(tmp_path, args, fwd, setup) as (_, peer):
        peer.send(*sent)
        return collect(peer, lambda got: len(got) == len(sent))


def test_probe_names_the_driver():
    with InTreeTestpmd() as pmd:
        info = pmd.info()
        assert info["Driver name"] == "mlx5_pci", info


def test_io_over_loop_counts_match():
    """Every frame received is sent again; 128 were put into the circle.

    The driver counts compressed frames when it sees them, not when it hands them out: without.
    """
    with InTreeTestpmd(devargs="rxq_cqe_comp_en=0") as pmd:
        pmd.cmd("set fwd io")
        pmd.cmd("start tx_first 4")
        pmd.wait_stats(lambda s: s["RX-packets"] > 100000)
        pmd.cmd("stop")
        time.sleep(0.2)
        stats = pmd.stats()
        assert stats["RX-errors"] == 0 and stats["TX-errors"] == 0
        assert stats["TX-packets"] - stats["RX-packets"] == 128, stats


# The vectorised receive rounds what it is asked for down to a multiple of four: not fewer.
@pytest.mark.parametrize("burst", [4, 7, 32])
def test_frames_leave_as_they_came(tmp_path, burst):
    sizes = (60, 61, 64, 65, 127, 128, 129, 255, 256, 257, 512, 1023, 1500, 1514)
    sent = [frames.packet(sport=i, data=bytes((i + j) & 255 for j in range(size - 42)))
            for i, size in enumerate(sizes * 10)]
    assert circulate(tmp_path, sent, [f"--burst={burst}"]) == sent


def test_rss_spreads_by_the_toeplitz_hash(tmp_path):
    """The hash is RSS's own under the driver's key, and picks the queue by its low bits."""
    with receiving(tmp_path, ["--rss-udp", f"--rx-offloads={RX_RSS_HASH:#x}"]) as (pmd, peer, start):
        sent = [frames.packet(sport=2000 + i, eth_src=f"02:00:00:00:01:{i:02x}")
                for i in range(64)]
        peer.send(*sent)
        got = pmd.wait_received(len(sent), start)
    assert len(got) == len(sent) and len({seen["queue"] for seen in got}) == 4
    for seen in got:
        sport = 2000 + int(seen["src"][-2:], 16)
        want = frames.toeplitz(KEY, frames.rss_input(4, "10.0.0.2", "10.0.0.1", sport, 53))
        assert seen["hash"] == want and seen["queue"] == want % 4, seen


def test_receive_checksum_flags(tmp_path):
    cases = [
        (frames.packet(frames.UDP, 4), True, True),
        (frames.packet(frames.TCP, 6), None, True),
        (frames.packet(frames.UDP, 4, ip_checksum=0x1111), False, None),
        (frames.packet(frames.TCP, 4, l4_checksum=0x1111), True, False),
    ]
    with receiving(tmp_path, [f"--rx-offloads={RX_CHECKSUM:#x}"], queues=1) as (pmd, peer, start):
        peer.send(*(case[0] for case in cases))
        got = pmd.wait_received(len(cases), start)
    for (_, ip_good, l4_good), seen in zip(cases, got):
        if ip_good is not None:
            assert ("IP_CKSUM_GOOD" in seen["flags"]) == ip_good, seen
        if l4_good is not None:
            assert ("L4_CKSUM_GOOD" in seen["flags"]) == l4_good, seen


def test_send_fills_checksums_in(tmp_path):
    sent = [frames.packet(proto, version, sport=i, data=bytes(range(i + 1)), l4_checksum=0x2222)
            for i in range(40) for proto in (frames.UDP, frames.TCP) for version in (4, 6)]
    got = circulate(tmp_path, sent, fwd="csum", setup=[
        f"csum set {layer} hw 0" for layer in ("ip", "udp", "tcp")])
    assert len(got) == len(sent)
    for before, after in zip(sent, got):
        head_ok, l4_ok = frames.checksums(after)
        assert head_ok in (True, None) and l4_ok, (before.hex(), after.hex())
        assert len(before) == len(after)


def test_vlan_strip(tmp_path):
    with receiving(tmp_path, [f"--rx-offloads={RX_VLAN_STRIP:#x}"], queues=1) as (pmd, peer, start):
        tagged = frames.packet(vlan=0x2005, data=bytes(100))
        peer.send(tagged, frames.packet(data=bytes(100)))
        first, second = pmd.wait_received(2, start)
    assert first["tci"] == 0x2005 and "VLAN_STRIPPED" in first["flags"], first
    assert first["length"] == len(tagged) - 4
    assert "VLAN_STRIPPED" not in second["flags"], second


def test_vlan_insert(tmp_path):
    sent = [frames.packet(sport=i, data=bytes(80)) for i in range(50)]
    got = circulate(tmp_path, sent, fwd="mac", setup=["tx_vlan set 0 0x123"])
    assert [f[12:] for f in got] == [b"\x81\x00\x01\x23" + f[12:] for f in sent]


INLINE = "txqs_min_inline=1,txq_inline_max=128,txq_inline_mpw=128"


@pytest.mark.parametrize("model, extra, mode", [
    ("cx5", "", "Enhanced MPW + Fast Free"),
    ("cx5", INLINE, "Enhanced MPW + INLINE"),
    ("cx5", "txq_mpw_en=0", "No MPW + Fast Free"),
    pytest.param("cx5", INLINE + ",txq_mpw_en=0", "No MPW + INLINE", marks=pytest.mark.long),
    pytest.param("cx6dx", "", "Enhanced MPW + Fast Free", marks=pytest.mark.long),
    ("cx4lx", "", "No MPW + INLINE"),
    ("cx4lx", "txq_mpw_en=1", "Legacy MPW + INLINE"),
    pytest.param("cx4lx", INLINE + ",txq_mpw_en=1", "Legacy MPW + INLINE", marks=pytest.mark.long),
])
def test_send_bursts(tmp_path, model, extra, mode):
    """The driver picks its burst from what the model reports; each sends the frames it was given.

    Some are of one length in a row: only those go into one WQE of the old multi-packet form.
    """
    sent = [frames.packet(sport=i, data=bytes((i + j) & 255 for j in range(i // 7 * 13 % 1400)))
            for i in range(rounds(1500))]
    got = []
    with forwarding(tmp_path, devargs=extra, port=f",model={model}") as (pmd, peer):
        assert mode in pmd.cmd("show txq info 0 0")
        for at in range(0, len(sent), 50):
            peer.send(*sent[at:at + 50])
            got += collect(peer, lambda part: len(part) == 50)
    assert got == sent


@pytest.mark.parametrize("version", [4, pytest.param(6, marks=pytest.mark.long)])
def test_tso_cuts_and_numbers(tmp_path, version):
    """Segments of 200 bytes: lengths, sequence numbers, checksums and the data, joined again."""
    data = bytes(i * 7 & 255 for i in range(1300))
    head = 54 if version == 4 else 74
    setup = ["csum set ip hw 0", "csum set tcp hw 0", "tso set 200 0"]
    with forwarding(tmp_path, fwd="csum", setup=setup) as (_, peer):
        peer.send(frames.packet(frames.TCP, version, data=data))
        got = collect(peer, lambda part: sum(len(f) - head for f in part) >= len(data))
    assert [len(frame) - head for frame in got] == [200] * 6 + [100]
    assert b"".join(frame[head:] for frame in got) == data
    for i, frame in enumerate(got):
        assert frames.checksums(frame) == (True if version == 4 else None, True)
        assert int.from_bytes(frame[head - 16:head - 12], "big") == 1 + 200 * i


def udp(port, **options):
    return frames.packet(dport=port, **options)


FLOWS = [
    # the pattern's port, actions
    (1001, "queue index 2"),
    (1002, "rss queues 1 3 end"),
    (1003, "drop"),
    (1004, "mark id 0x1234 / queue index 1"),
    (1005, "count / queue index 3"),
    (LAST_PORT, "queue index 0"),
]


@pytest.mark.parametrize("devargs, counts", [("dv_flow_en=0", True), ("dv_flow_en=1", False)])
def test_flow_engines(tmp_path, devargs, counts):
    """queue, rss, drop, mark and count, translated to verbs or to mlx5dv matchers.

    Without DevX the driver itself refuses to count by matchers.
    """
    rules = [f"ingress pattern eth / ipv4 / udp dst is {port} / end actions "
             f"{actions if counts else actions.replace('count / ', '')} / end"
             for port, actions in FLOWS]
    with receiving(tmp_path, rules=rules, devargs=devargs) as (pmd, peer, start):
        sent = [udp(port, src=f"10.0.1.{i}", eth_src=f"02:00:00:00:{port - 1000:02x}:{i:02x}")
                for port in range(1001, 1006) for i in range(1, 9)]
        # Frames are steered in order: once the last is shown, a dropped one is dropped.
        peer.send(*sent, udp(LAST_PORT))
        got = pmd.wait_received(8 * 4 + 1, start)
        if counts:
            assert pmd.query_count(4) == (8, sum(len(f) for f in sent[-8:]))

    def seen_of(port):
        return [seen for seen in got if seen["src"].split(":")[4] == f"{port - 1000:02x}"
                and seen["src"] != frames.PEER_MAC]
    assert [seen["queue"] for seen in seen_of(1001)] == [2] * 8
    assert {seen["queue"] for seen in seen_of(1002)} == {1, 3} and len(seen_of(1002)) == 8
    assert seen_of(1003) == []
    assert [(s["queue"], s["mark"]) for s in seen_of(1004)] == [(1, 0x1234)] * 8
    assert [seen["queue"] for seen in seen_of(1005)] == [3] * 8
    assert all(seen["mark"] is None for seen in seen_of(1001) + seen_of(1005))


@pytest.mark.skipif(dpdk.VERSION < (25, 11), reason="the drivers before 25.11's start with their defaults")
def test_the_default_that_needs_devx(tmp_path):
    """25.11's fault, see harness.dpdk: the port is probed, and does not start for want of a DevX umem."""
    with InTreeTestpmd(f"wire=unix:{tmp_path}/wire,mac={MAC}", args=["--disable-device-start"], known="") as pmd, \
            Cable(tmp_path / "wire"):
        answer = pmd.cmd("port start 0")
        assert "Failed to register unique umem for all SQs" in answer, answer


def test_fields_that_matchers_alone_have(tmp_path):
    """TTL and TCP flags: verbs has no specs for them, the driver's own form of rules does."""
    rules = ["ingress pattern eth / ipv4 ttl is 9 / end actions mark id 1 / queue index 1 / end",
             "ingress pattern eth / ipv4 / tcp flags spec 0x10 flags mask 0x12 / end "
             "actions mark id 2 / queue index 2 / end",
             "ingress pattern eth / ipv6 hop is 7 / udp / end "
             "actions mark id 3 / queue index 3 / end"]
    sent = [frames.packet(ttl=9), frames.packet(ttl=8), frames.packet(frames.TCP, ttl=8),
            frames.packet(frames.TCP, 6, ttl=8), frames.packet(version=6, ttl=7)]
    with receiving(tmp_path, rules=rules) as (pmd, peer, start):
        marks = []
        for n, frame in enumerate(sent):
            peer.send(frame)
            marks.append(pmd.wait_received(n + 1, start)[-1]["mark"])
    assert marks == [1, None, 2, None, 3]


@pytest.mark.parametrize("devargs", ["dv_flow_en=1", "dv_flow_en=0"])
def test_rss_by_inner_headers(tmp_path, devargs):
    """VXLAN: hash and queue are the inner packet's, and so is what is said of checksums."""
    rule = ("ingress pattern eth / ipv4 / udp / vxlan vni is 77 / eth / ipv4 / udp / end actions "
            "rss level 2 types ipv4-udp end queues 0 1 2 3 end / mark id 5 / end")
    sent = [frames.packet(dport=4789, sport=50000, eth_src=f"02:00:00:00:02:{i:02x}",
                          data=struct.pack("!BxxxI", 8, vni << 8) + frames.packet(sport=3000 + i))
            for i, vni in enumerate([77] * 24 + [78])]
    with receiving(tmp_path, [f"--rx-offloads={RX_CHECKSUM | RX_RSS_HASH:#x}"], [rule],
                   devargs=devargs) as (pmd, peer, start):
        peer.send(*sent)
        got = pmd.wait_received(len(sent), start)
    assert {seen["queue"] for seen in got} == {0, 1, 2, 3}
    for seen in got:
        number = int(seen["src"][-2:], 16)
        if number == 24:
            assert seen["mark"] is None, seen
            continue
        want = frames.toeplitz(KEY, frames.rss_input(4, "10.0.0.2", "10.0.0.1", 3000 + number, 53))
        assert seen["mark"] == 5 and seen["hash"] == want and seen["queue"] == want % 4, seen
        assert "INNER_L4_UDP" in seen["hw_ptype"] and "L4_CKSUM_GOOD" in seen["flags"], seen


def test_long_frames_in_segments(tmp_path):
    """Frames of several mbufs, received by scattering and sent by gathering."""
    sent = [frames.packet(sport=i, data=bytes((i + j) & 255 for j in range(i * 131 % 8800)))
            for i in range(300)]
    got = []
    with forwarding(tmp_path, ["--max-pkt-len=9018", f"--rx-offloads={RX_SCATTER:#x}",
                               f"--tx-offloads={TX_MULTI_SEGS:#x}"]) as (_, peer):
        for at in range(0, len(sent), 20):
            peer.send(*sent[at:at + 20])
            got += collect(peer, lambda part: len(part) == 20)
    assert got == sent


def random_traffic(nb, seed=5):
    """Frames of mixed kinds in runs of one kind, each told apart by its source address."""
    rng = random.Random(seed)
    sent, kind = [], {}
    for i in range(nb):
        if rng.randrange(12) == 0:
            kind = rng.choice([{}, {"version": 6}, {"proto": frames.TCP}, {"vlan": 7},
                               {"l4_checksum": 0x1111}, {"dport": 1004}])
        sent.append(frames.packet(sport=rng.randrange(1, 60000), data=bytes(rng.randrange(120)),
                                  eth_src=f"02:00:00:00:{i >> 8:02x}:{i & 255:02x}", **kind))
    return sent


RX_BURSTS = [(1, "Vector SSE"), (0, "Scalar")]


@pytest.mark.parametrize("vector, mode", [RX_BURSTS[0], pytest.param(*RX_BURSTS[1], marks=pytest.mark.long)])
def test_compressed_completions_say_the_same(tmp_path, vector, mode):
    """What the driver reads of random bursts does not depend on CQE compression."""
    sent = random_traffic(rounds(800))
    args = [f"--rx-offloads={RX_CHECKSUM | RX_RSS_HASH:#x}", "--rss-udp", "--rxd=128"]
    rules = ["ingress pattern eth / ipv4 / udp dst is 1004 / end "
             "actions mark id 0x1234 / queue index 1 / end"]
    got = {}
    for compressed in (0, 1):
        rng = random.Random(1)
        path = tmp_path / str(compressed)
        path.mkdir()
        devargs = f"rxq_cqe_comp_en={compressed},rx_vec_en={vector}"
        with receiving(path, args, rules, queues=2, devargs=devargs) as (pmd, peer, start):
            assert mode in pmd.cmd("show rxq info 0 0")
            at = 0
            while at < len(sent):
                # The vectorised receive leaves a quarter of its queue of 128 without buffers.
                nb = rng.randrange(1, 90)
                peer.send(*sent[at:at + nb])
                at = min(at + nb, len(sent))
                seen = pmd.wait_received(at, start)
        got[compressed] = sorted(seen, key=lambda packet: packet["src"])
    assert len(got[0]) == len(sent) and any(packet["mark"] == 0x1234 for packet in got[0])
    assert got[1] == got[0]


@pytest.mark.parametrize("vector, mode", [pytest.param(*RX_BURSTS[0], marks=pytest.mark.long), RX_BURSTS[1]])
def test_long_compressed_traffic(tmp_path, vector, mode):
    """Many laps of a small completion queue, in bursts of every size: each frame comes back whole."""
    sent = random_traffic(rounds(8000))
    rng = random.Random(2)
    got, at = [], 0
    # Vectors leave up to 31 of 128 slots without buffers, and those of the burst before until they are polled again:
    # the 44 frames of the next one find room all the same.
    with forwarding(tmp_path, ["--rxd=128", "--txd=256"],
                    devargs=f"dv_flow_en=0,rx_vec_en={vector}") as (pmd, peer):
        assert mode in pmd.cmd("show rxq info 0 0")
        while at < len(sent):
            nb = min(rng.randrange(1, 45), len(sent) - at)
            peer.send(*sent[at:at + nb])
            got += collect(peer, lambda part: len(part) == nb)
            at += nb
    assert got == sent
