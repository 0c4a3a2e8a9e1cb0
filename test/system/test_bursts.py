# SPDX-License-Identifier: BSD-3-Clause
"""Which burst functions a port gets, and what it says about them."""
import pytest
from harness.testpmd import Testpmd

INFO = "--log-level=pmd.net.mlx5dv:info"
RX_SCATTER, RX_RSS_HASH, TX_MULTI_SEGS, TX_CSUM = 0x2000, 0x80000, 0x8000, 0xE


@pytest.mark.parametrize("port,args,eal,rx,tx", [
    ("wire=loop", [], ["--force-max-simd-bitwidth=128"],
     "Vector SSE, mark (the EAL limits the SIMD width)",
     "Vector SSE, fast free (the EAL limits the SIMD width)"),
    ("wire=loop", [f"--tx-offloads={TX_CSUM:#x}"], ["--force-max-simd-bitwidth=64"],
     "Scalar, mark (the EAL limits the SIMD width)", "Scalar, csum (the EAL limits the SIMD width)"),
    ("wire=loop,model=cx4lx", ["--mbuf-size=512", f"--rx-offloads={RX_SCATTER:#x}",
                               f"--tx-offloads={TX_MULTI_SEGS:#x}"], [],
     "Vector AVX2, scattered, mark",
     "Scalar, multi-segment, inline L2 (the device takes one packet a WQE: no vectors)"),
])
def test_what_is_chosen_and_why(port, args, eal, rx, tx):
    with Testpmd(ports=[port], args=args, eal=[INFO, *eal]) as pmd:
        assert f"Rx burst: {rx}; Tx burst: {tx}" in pmd.banner, pmd.banner
        shown = pmd.cmd("show rxq info 0 0"), pmd.cmd("show txq info 0 0")
        for text, burst in zip(shown, (rx, tx)):
            assert f"Burst mode: {burst.split(' (')[0]}" in text, text


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
