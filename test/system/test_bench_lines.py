# SPDX-License-Identifier: BSD-3-Clause
"""devtools/bench lines: which memory instructions access, whose lines these are, and that ours are not more."""
import io
import json
import struct
import subprocess

import pytest
from harness import paths
from harness.bench import access, lines
from harness.bench.access import PREFETCH, READ, WRITE
from harness.patience import PATIENCE

RAX, RBX, RIP = (access.REGISTERS.index(name) for name in ("rax", "rbx", "rip"))


@pytest.mark.parametrize("text, wanted", [
    ("mov    rax,QWORD PTR [rbx+0x10]", [([(RBX, 1)], 16, 8, READ)]),
    ("mov    DWORD PTR [rax+rbx*4-0x8],0x1", [([(RAX, 1), (RBX, 4)], -8, 4, WRITE)]),
    ("movzx  eax,WORD PTR [rip+0x2f00]        # 0x2f07", [([(RIP, 1)], 0x2f00, 2, READ)]),
    ("vmovdqu YMMWORD PTR [rax],ymm0", [([(RAX, 1)], 0, 32, WRITE)]),
    ("vpaddd ymm0,ymm1,YMMWORD PTR [rax]", [([(RAX, 1)], 0, 32, READ)]),
    ("lock xadd DWORD PTR [rax],ebx", [([(RAX, 1)], 0, 4, READ | WRITE)]),
    ("add    QWORD PTR [rax],0x1", [([(RAX, 1)], 0, 8, READ | WRITE)]),
    ("cmp    BYTE PTR [rax],0x0", [([(RAX, 1)], 0, 1, READ)]),
    ("lock cmpxchg QWORD PTR [rax],rbx", [([(RAX, 1)], 0, 8, READ | WRITE)]),
    ("rep movs QWORD PTR es:[rax],QWORD PTR ds:[rbx]", [([(RAX, 1)], 0, 8, WRITE), ([(RBX, 1)], 0, 8, READ)]),
    ("prefetcht0 BYTE PTR [rbx+0x40]", [([(RBX, 1)], 64, 1, PREFETCH)]),
    ("call   QWORD PTR [rax+0x8]", [([(RAX, 1)], 8, 8, READ)]),
    ("mov    eax,DWORD PTR fs:[rbx]", []),
    ("lea    rax,[rbx+0x10]", []),
    ("nop    WORD PTR cs:[rax+rax*1+0x0]", []),
    ("ret", []),
])
def test_what_an_instruction_accesses(text, wanted):
    assert access.operands(text) == wanted


@pytest.mark.parametrize("text", ["vpgatherdd ymm0,DWORD PTR [rax+ymm1*4],ymm2",
                                  "vmovdqu8 ZMMWORD PTR [rax]{k1},zmm0"])
def test_what_registers_do_not_tell_is_refused(text):
    with pytest.raises(access.Unknown):
        access.operands(text)


def padded(code):
    return bytes.fromhex(code).ljust(access.SLOT, b"\x0f")


def test_an_instruction_is_told_from_what_follows():
    load, ret = padded("488b4310"), padded("c3")  # mov rax,[rbx+0x10]; then the beginnings of others
    assert access.decode({load, ret}) == {load: (4, [([(RBX, 1)], 16, 8, READ)]), ret: (1, [])}


def a_trace(rbx):
    """Two bursts of two loads from rbx + 16, a prefetch of rbx + 0x1000, one store to rip + 0x100."""
    codes = [padded(code) for code in ("488b4310", "488b4310", "0f188b00100000", "890500010000")]
    head = ("case rx plain 64 B x2\nport 1 mlx5_pci\npackets 4\nbursts 0 4\nrange pool 9000 80\n"
            "mbufs 100 7000 7100\nmap 1000-2000 r--p 00000000 fe:00 1 /x/libtable.so.1\n"
            "map 2000-3000 rw-p 00000000 00:00 0 \nmap 5000-6000 rw-p 00000000 00:00 0 [stack]\n"
            'device {"ports": [{"queues": [{"ring": 32768, "ring_bytes": 4096, "record": 40968}]}]}\nsteps 8\n')
    steps = []
    for number, code in enumerate(codes * 2):
        regs = [0] * len(access.REGISTERS)
        regs[RBX], regs[RIP] = rbx + number // 4 * 64, 0x2000
        steps.append(struct.pack("<17Q", *regs) + code)
    return lines.Trace(io.BytesIO(head.encode() + b"".join(steps)))


@pytest.mark.parametrize("rbx, kinds", [
    (0x7000, ["mbuf 0", "mbuf 1"]), (0x7080, ["payload", "payload"]), (0x8000, ["ring", "ring"]),
    (0x9000, ["pool", "pool"]), (0xa000, ["doorbell", "queue"]), (0x4fc0, ["queue", None]),
    (0x1000, ["library", "library"]),
])
def test_lines_are_counted_by_what_they_belong_to(rbx, kinds):
    trace = a_trace(rbx)
    found, unused = lines.count(trace.accesses(), trace.places)
    wanted = {}
    for kind in [*filter(None, kinds)]:
        wanted.setdefault(kind, [0, 0, 0])
        wanted[kind][0] += 1
        wanted[kind][2] += 1
    # The store, once a burst, to what follows a file.
    stored = wanted.setdefault("library", [0, 0, 0])
    stored[1] += 2
    stored[2] += 2
    assert found == wanted
    assert unused == 2
    assert (trace.case, trace.port, trace.driver, trace.nb_packets) == ("rx plain 64 B x2", 1, "mlx5_pci", 4)


def test_an_access_across_a_border_is_of_two_lines():
    found, _ = lines.count([[(60, 8, READ), (64, 4, WRITE)]], lines.Places())
    assert found == {"queue": [2, 1, 2]}


@pytest.mark.usefixtures("tap_allowed")
@pytest.mark.parametrize("only", ["tx tso 1518 B x8", "rx marked 64 B x8"])
def test_ours_are_not_more(tmp_path, only):
    file = tmp_path / "lines.json"
    done = subprocess.run([paths.ROOT / "devtools/bench", "lines", "--only", only, "--json", file], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout
    for row in json.loads(file.read_text()):
        assert row["peer"] == "net_mlx5" and 0 < row["ours"] <= row["theirs"]
        for whose in ("ours", "theirs"):
            kinds = row[f"kinds_{whose}"]
            assert kinds["mbuf 0"][2] >= 1 and kinds["ring"][2] > 0 and kinds["doorbell"][1] > 0, done.stdout
