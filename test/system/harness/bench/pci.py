# SPDX-License-Identifier: BSD-3-Clause
"""Bytes and TLPs a packet on PCI, from what `softhca ctl stats pci` counts, and the rates at which links are full."""
import json

# Raw bits a second of a link: transfers a second of a lane, lanes, 128 of 130 bits.
LINKS = {"Gen3 x8": 8e9 * 8 * 128 / 130, "Gen3 x16": 8e9 * 16 * 128 / 130, "Gen4 x16": 16e9 * 16 * 128 / 130}
# Of these, what acknowledgements, flow control and clock compensation leave: with a maximum payload of 256 bytes, an ACK
# and an update of 8 bytes each for 203 bytes (x8) or 168 (x16), 4 of 1538 bytes for SKIP (PCI Express Base Specification
# 5.0, tables 2-46 to 2-48 and 3-7 to 3-9, as pcie-bench's model has them).
LEFT = {"Gen3 x8": 1 - 2 * 8 / 203 - 4 / 1538, "Gen3 x16": 1 - 2 * 8 / 168 - 4 / 1538,
        "Gen4 x16": 1 - 2 * 8 / 168 - 4 / 1538}
# Which causes a packet that is received, or sent, has.
RECEIVED = ("rx_record", "rx_wqe", "rx_data", "rx_cqe", "cq_arm", "interrupt")
SENT = ("tx_doorbell", "tx_record", "tx_wqe", "tx_data", "tx_cqe")
WAYS = ("to_host", "to_device")


def read(path):
    """(case, port, driver, packets, {cause: counts}) of a file of rxtx-bench --count."""
    fields = dict(line.split(" ", 1) for line in path.read_text().splitlines())
    port, driver = fields["port"].split()
    said = {one["device"]: one["causes"] for one in json.loads(fields["device"])["ports"]}
    return fields["case"], int(port), driver, int(fields["packets"]), said[f"mlx5_{port}"]


def a_packet(case, packets, causes):
    """{cause: [bytes to host, TLPs to host, bytes to device, TLPs to device]} a packet, with "all"."""
    out = {}
    for cause in SENT if case.startswith("tx") else RECEIVED:
        counts = causes[cause]
        out[cause] = [counts[f"{way}_{what}"] / packets for way in WAYS for what in ("bytes", "tlps")]
    out["all"] = [sum(column) for column in zip(*out.values())]
    return out


def full(to_host, to_device):
    """{link: packets a second at which either direction is full}"""
    most = max(to_host, to_device)
    return {link: raw * LEFT[link] / 8 / most for link, raw in LINKS.items()}
