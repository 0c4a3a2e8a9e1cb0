# SPDX-License-Identifier: BSD-3-Clause
"""VLAN tags taken off on receive and put in on send."""
from harness import frames, pcapfile
from harness.rig import Rig, probe
from harness.testpmd import Testpmd

MAC = frames.PORT_MAC
RX_VLAN_STRIP = 0x1
TX_VLAN_INSERT = 0x1
TCIS = [0x001, 0x064, 0xFFE, 0x2064, 0xE001]


def test_strip(tmp_path):
    """The tag goes to the mbuf; untagged frames are left alone."""
    sent = [frames.packet(vlan=tci, sport=i) for i, tci in enumerate(TCIS)] + [frames.packet()]
    with Rig(tmp_path, [f"--rx-offloads={RX_VLAN_STRIP:#x}"], queues=1) as rig:
        assert "strip on" in rig.pmd.cmd("show port info 0")
        got = rig.deliver(*sent)
    assert len(got) == len(sent)
    for tci, frame, seen in zip(TCIS, sent, got):
        assert seen["tci"] == tci and {"VLAN", "VLAN_STRIPPED"} <= seen["flags"], seen
        assert seen["length"] == len(frame) - 4
    assert got[-1]["tci"] is None and "VLAN_STRIPPED" not in got[-1]["flags"]


def test_stripped_frames_are_whole_otherwise(tmp_path):
    sent = [frames.packet(vlan=tci, sport=i, pad=64) for i, tci in enumerate(TCIS)]
    sent.append(frames.packet())
    capture, result = tmp_path / "in.pcap", tmp_path / "out.pcap"
    pcapfile.write(capture, sent)
    with Testpmd(ports=[f"wire=pcap:{capture}:{result},mac={MAC}"],
                 args=[f"--rx-offloads={RX_VLAN_STRIP:#x}"]) as pmd:
        pmd.cmd("set fwd io")
        pmd.cmd("start")
        pmd.wait_stats(lambda s: s["TX-packets"] >= len(sent))
        pmd.cmd("stop")
    assert pcapfile.read(result) == [f[:12] + f[16:] for f in sent[:-1]] + [sent[-1]]


def test_strip_switched_while_started(tmp_path):
    with Rig(tmp_path, [], queues=1) as rig:
        seen, = rig.deliver(frames.packet(vlan=0x64))
        assert seen["type"] == 0x8100 and "VLAN_STRIPPED" not in seen["flags"]
        rig.pmd.cmd("vlan set strip on 0")
        seen, = rig.deliver(frames.packet(vlan=0x64))
        assert seen["tci"] == 0x64 and seen["type"] == 0x0800
        rig.pmd.cmd("vlan set strip off 0")
        seen, = rig.deliver(frames.packet(vlan=0x64))
        assert seen["type"] == 0x8100 and seen["tci"] is None


def test_strip_off_again(tmp_path):
    """vlan set strip on, then off: tagged frames pass whole."""
    frame = frames.packet(vlan=0x64)
    capture, result = tmp_path / "in.pcap", tmp_path / "out.pcap"
    pcapfile.write(capture, [frame] * 10)
    with Testpmd(ports=[f"wire=pcap:{capture}:{result},mac={MAC}"],
                 args=["--disable-device-start"]) as pmd:
        pmd.cmd("vlan set strip on 0")
        assert "strip on" in pmd.cmd("show port info 0")
        pmd.cmd("vlan set strip off 0")
        assert "strip off" in pmd.cmd("show port info 0")
        pmd.cmd("port start 0")
        pmd.cmd("set fwd io")
        pmd.cmd("start")
        pmd.wait_stats(lambda s: s["TX-packets"] >= 10)
        pmd.cmd("stop")
    assert pcapfile.read(result) == [frame] * 10


def test_insert(tmp_path):
    sent = [frames.packet(sport=i, data=bytes(size)) for i, size in enumerate((1, 6, 22, 100, 1400))]
    capture, result = tmp_path / "in.pcap", tmp_path / "out.pcap"
    pcapfile.write(capture, sent)
    with Testpmd(ports=[f"wire=pcap:{capture}:{result},mac={MAC}"],
                 args=[f"--tx-offloads={TX_VLAN_INSERT:#x}", "--disable-device-start"]) as pmd:
        answer = pmd.cmd("tx_vlan set 0 100")
        assert "rror" not in answer, answer
        pmd.cmd("port start 0")
        pmd.cmd("set fwd mac")
        pmd.cmd("start")
        pmd.wait_stats(lambda s: s["TX-packets"] >= len(sent))
        pmd.cmd("stop")
    got = pcapfile.read(result)
    assert [f[12:16] for f in got] == [b"\x81\x00\x00\x64"] * len(sent)
    assert [f[16:] for f in got] == [f[12:] for f in sent]


# Tags of all kinds, and none; what the rules of each stack give a packet: (queue, mark), and no packet comes twice.
TAGS = {1: 0x005, 2: 0x1005, 3: 0, 4: 0x1000, 5: 0xFFFF, 6: None}
TAGGED = {1, 2, 3, 4, 5}
ANY_TAG = [
    (["pattern eth / vlan / end actions queue index 1 / end"], lambda number: {1: number in TAGGED}),
    (["pattern eth / vlan / end actions queue index 1 / passthru / end"], lambda number: {1: number in TAGGED}),
    # The device has these in one group, and one entry of it has both the same match but for what it stands for.
    (["pattern eth / vlan dei is 1 / end actions queue index 2 / end", "pattern eth / vlan / end actions queue index 1 / end"],
     lambda number: {2: number in (2, 4, 5), 1: number in (1, 3)}),
    (["pattern eth / vlan / end actions queue index 1 / end", "pattern eth / vlan dei is 0 / end actions queue index 2 / end"],
     lambda number: {1: number in TAGGED}),
    (["pattern eth / vlan / end actions queue index 1 / passthru / end",
      "pattern eth / vlan dei is 1 / end actions queue index 2 / passthru / end",
      "pattern eth / vlan / ipv4 / end actions queue index 0 / end"],
     lambda number: {1: number in TAGGED, 2: number in (2, 4, 5), 0: number in TAGGED}),
    (["pattern eth / vlan / ipv4 / udp / end actions rss types ipv4-udp end queues 1 end / end",
      "pattern eth / vlan / end actions queue index 2 / end"],
     lambda number: {1: number in TAGGED}),
]


def test_any_tag(tmp_path):
    """A VLAN item without a bit of the tag: each tagged packet, once; its COUNT is one."""
    with Rig(tmp_path) as rig:
        for rules, taken in ANY_TAG:
            rig.add_sentinel()
            made = [rig.pmd.flow(f"ingress priority 1 {rule.replace(' actions ', ' actions count / ')}") for rule in rules]
            got = rig.deliver(*(probe(number, vlan=tci) for number, tci in TAGS.items()))
            expected = [{number for number in TAGS if taken(number).get(queue)} for queue in range(3)]
            assert [sorted(rig.numbers(got, queue)) for queue in range(3)] == list(map(sorted, expected)), rules
            if len(rules) == 1:
                assert rig.pmd.query_count(made[0])[0] == len(TAGGED)
            rig.pmd.cmd("flow flush 0")
