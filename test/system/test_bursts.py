# SPDX-License-Identifier: BSD-3-Clause
"""Which burst functions a port gets, and what it says about them."""
import pathlib

import pytest
from harness.testpmd import Testpmd

INFO = "--log-level=pmd.net.mlx5dv:info"
RX_SCATTER, RX_RSS_HASH, TX_MULTI_SEGS, TX_CSUM = 0x2000, 0x80000, 0x8000, 0xE

CPU = pathlib.Path("/proc/cpuinfo").read_text()
EAL_LIMIT = " (the EAL limits the SIMD width)"


def marks(bits):
    """What a port without offloads receives with, on this CPU, and why no wider."""
    if "avx512vbmi " not in CPU:
        return "Vector AVX2, mark", " (the CPU has no AVX-512 with VBMI)"
    return ("Vector AVX-512, mark", "") if bits == 512 else ("Vector AVX2, mark", EAL_LIMIT)


@pytest.mark.parametrize("port,args,eal,rx,tx", [
    ("wire=loop", [], [], marks(256), ("Vector AVX2, fast free", "")),
    ("wire=loop", [], ["--force-max-simd-bitwidth=512"], marks(512), ("Vector AVX2, fast free", "")),
    ("wire=loop", [], ["--force-max-simd-bitwidth=128"], ("Vector SSE, mark", EAL_LIMIT),
     ("Vector SSE, fast free", EAL_LIMIT)),
    ("wire=loop", [f"--tx-offloads={TX_CSUM:#x}"], ["--force-max-simd-bitwidth=64"],
     ("Scalar, mark", EAL_LIMIT), ("Scalar, csum", EAL_LIMIT)),
    ("wire=loop,model=cx4lx", ["--mbuf-size=512", f"--rx-offloads={RX_SCATTER:#x}",
                               f"--tx-offloads={TX_MULTI_SEGS:#x}"], [],
     ("Vector AVX2, scattered, mark", ""),
     ("Scalar, multi-segment, inline L2", " (the device takes one packet a WQE: no vectors)")),
])
def test_what_is_chosen_and_why(port, args, eal, rx, tx):
    with Testpmd(ports=[port], args=args, eal=[INFO, *eal]) as pmd:
        said = f"Rx burst: {''.join(rx)}; Tx burst: {''.join(tx)}; Rx completions: "
        assert said in pmd.banner, pmd.banner
        shown = pmd.cmd("show rxq info 0 0"), pmd.cmd("show txq info 0 0")
        for text, (burst, _) in zip(shown, (rx, tx)):
            assert f"Burst mode: {burst}\n" in text.replace("\r", ""), text


@pytest.mark.parametrize("devargs,args,completions", [
    ("", [], "compressed, with the RSS hash"),
    (",rx_cqe_comp=csum", [], "compressed, with a checksum"),
    (",rx_cqe_comp=csum", ["--rxq=2", "--txq=2", f"--rx-offloads={RX_RSS_HASH:#x}"],
     "one a packet (compressed they would lack the RSS hash)"),
    (",rx_cqe_comp=off", [], "one a packet (rx_cqe_comp=off)"),
])
def test_whether_completions_are_compressed_and_why(devargs, args, completions):
    with Testpmd(vdevs=[f"net_mlx5dv0,ibdev=mlx5_0{devargs}"], args=args, eal=[INFO]) as pmd:
        assert f"; Rx completions: {completions}\n" in pmd.banner.replace("\r", ""), pmd.banner


@pytest.mark.parametrize("devargs,args,eal,rx,completions", [
    ("mprq=on", [], [], "Vector AVX2, striding, mark", "compressed, with a checksum and stride"),
    ("mprq=on", [], ["--force-max-simd-bitwidth=64"], "Scalar, striding, mark", "compressed, with a checksum and stride"),
    ("mprq=on,rx_cqe_comp=off", ["--rxd=64"], [], "Vector AVX2, striding, mark", "one a packet (rx_cqe_comp=off)"),
    ("mprq=auto", ["--rxd=512"], [], "Vector AVX2, striding, mark", "compressed, with a checksum and stride"),
])
def test_striding_queues(devargs, args, eal, rx, completions):
    with Testpmd(vdevs=[f"net_mlx5dv0,ibdev=mlx5_0,{devargs}"], args=args, eal=[INFO, *eal]) as pmd:
        banner = pmd.banner.replace("\r", "")
        assert f"Rx burst: {rx}" in banner and f"Rx completions: {completions}\n" in banner, banner
        assert f"Burst mode: {rx}\n" in pmd.cmd("show rxq info 0 0").replace("\r", "")


@pytest.mark.parametrize("port,devargs,args,why", [
    ("wire=loop", "mprq=auto", ["--rxd=256"], "queue 0: fewer than 512 descriptors"),
    ("wire=loop", "mprq=auto", ["--rxd=512", "--max-pkt-len=3000", "--mbuf-size=4096"],
     "queue 0: frames of MTU 2982 would take 4096 bytes each"),
    ("wire=loop", "mprq=auto", ["--rxd=512", "--rxq=2", "--txq=2", f"--rx-offloads={RX_RSS_HASH:#x}"],
     "completions with the RSS hash would not be compressed"),
    ("wire=loop", "mprq=auto,mode=ibv", ["--rxd=512"], "they need mode=dv"),
])
def test_why_queues_are_not_striding(port, devargs, args, why):
    with Testpmd(ports=[port], vdevs=[f"net_mlx5dv0,ibdev=mlx5_0,{devargs}"], args=args, eal=[INFO]) as pmd:
        assert f"port 0: Rx queues are not striding: {why}\n" in pmd.banner.replace("\r", ""), pmd.banner
        assert "striding" not in pmd.cmd("show rxq info 0 0")


def test_striding_queues_that_the_device_lacks_are_refused():
    with Testpmd(vdevs=["net_mlx5dv0,ibdev=mlx5_0,mprq=on,mode=ibv"]) as pmd:
        assert "mlx5dv: mlx5_0: mprq=on: striding receive queues need mode=dv" in pmd.banner, pmd.banner
        assert "No probed ethernet devices" in pmd.banner


@pytest.mark.parametrize("size,message", [
    (10000, "mprq=on, but Rx queues cannot be striding: queue 0: frames of 9000 bytes, strides have 8192"),
    # The port offers no SCATTER.
    (2048, "need 9000 bytes, a buffer of mempool mb_pool_0 has 1920: use larger buffers"),
])
def test_striding_queues_that_frames_do_not_fit_are_refused(size, message):
    with Testpmd(vdevs=["net_mlx5dv0,ibdev=mlx5_0,mprq=on"],
                 args=["--max-pkt-len=9000", f"--mbuf-size={size}", "--disable-device-start"]) as pmd:
        answer = pmd.cmd("port start 0")
        assert message in answer, answer
