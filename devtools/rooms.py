# SPDX-License-Identifier: BSD-3-Clause
"""The rooms of the tree, bottom up, as doc/design/map.md draws them: for check-layers and check-calls.

A row: the room, the beginnings of its files' paths, and the rooms that it may include and call. Each of these stands
above it in its half's table, so nothing goes upward, and no two rooms need each other.
"""

SOFTHCA = [
    ("base", ["lib/softhca/base/"], ""),
    ("strict", ["lib/softhca/strict/"], "base"),
    ("pci", ["lib/softhca/pci/"], ""),
    ("fault", ["lib/softhca/fault/"], "base"),
    ("steering/match", ["lib/softhca/steering/match/"], "base"),
    ("steering", ["lib/softhca/steering/"], "base steering/match"),
    ("model", ["lib/softhca/config/model"], "base"),
    ("wire", ["lib/softhca/wire/"], "base fault"),
    ("eswitch", ["lib/softhca/eswitch/"], "base wire"),
    ("config", ["lib/softhca/config/"], "base strict model wire"),
    ("transport/packet", ["lib/softhca/transport/packet/"], ""),
    ("transport/engine", ["lib/softhca/transport/engine/"], "transport/packet"),
    ("cm", ["lib/softhca/cm/"], ""),
    ("hw/format", ["lib/softhca/hw/format/"], "base steering/match model wire"),
    ("hw/state", ["lib/softhca/hw/state/"], "base steering/match steering model wire hw/format"),
    ("hw/check", ["lib/softhca/hw/check/"], "base strict pci fault steering hw/format hw/state"),
    ("hw/queue", ["lib/softhca/hw/queue/"], "base steering/match steering wire hw/format hw/state hw/check"),
    ("hw/roce", ["lib/softhca/hw/roce/"],
     "base strict wire transport/packet transport/engine hw/format hw/state hw/check hw/queue"),
    ("hw/device", ["lib/softhca/hw/device/"],
     "base steering/match steering model wire hw/format hw/state hw/check hw/queue hw/roce"),
    ("abi/core", ["lib/softhca/abi/core/"], "base fault steering/match steering model hw/check hw/roce hw/device"),
    ("abi/memory", ["lib/softhca/abi/memory/"], "base model hw/roce hw/device abi/core"),
    ("abi/qp", ["lib/softhca/abi/qp/"], "base hw/roce abi/core"),
    ("abi/object", ["lib/softhca/abi/object/"],
     "base strict model hw/state hw/queue hw/roce abi/core abi/memory abi/qp"),
    ("abi/entry", ["lib/softhca/abi/entry/"],
     "base fault model hw/queue hw/roce abi/core abi/memory abi/qp abi/object"),
    ("ucma", ["lib/softhca/ucma/"], "base hw/roce hw/device abi/core cm"),
    ("sysfs", ["lib/softhca/sysfs/"], "base model wire config"),
    ("ethtool", ["lib/softhca/ethtool/"], "steering model hw/device"),
    ("pattern", ["lib/softhca/pattern/"], "base"),
    ("ctl", ["lib/softhca/ctl/"], "base pci steering model hw/device ethtool pattern"),
    ("nldev", ["lib/softhca/nldev/"], "base model config abi/core abi/entry ucma sysfs ethtool ctl"),
    ("ethnl", ["lib/softhca/ethnl/"], "ethtool nldev"),
    ("softhca", ["lib/softhca/softhca."], "base strict fault wire eswitch config hw/device ucma sysfs ctl"),
    ("message", ["lib/softhca/keeper/message.h"], ""),
    ("keeper", ["lib/softhca/keeper/"], "base hw/device abi/core abi/entry ucma nldev softhca message"),
    ("client", ["lib/softhca/client/"], "base message"),
    ("preload", ["lib/softhca/preload/"], "base config abi/core abi/entry ucma nldev ethnl softhca client"),
    ("runner", ["app/softhca/"], "base strict fault wire config sysfs pattern ctl softhca message keeper"),
    # Verbs and nothing else.
    ("example", ["app/examples/"], ""),
]

# "driver " is before the name of each.
DRIVER = [
    ("driver api", ["drivers/net/mlx5dv/rte_pmd_mlx5dv.h"], ""),
    ("driver base", ["drivers/net/mlx5dv/base/"], ""),
    ("driver device", ["drivers/net/mlx5dv/device/"], "base"),
    ("driver state", ["drivers/net/mlx5dv/state/"], "device"),
    ("driver kernel", ["drivers/net/mlx5dv/kernel/"], "base state"),
    ("driver mp", ["drivers/net/mlx5dv/mp/"], "base state"),
    ("driver mem", ["drivers/net/mlx5dv/mem/"], "base device state mp"),
    ("driver queue", ["drivers/net/mlx5dv/queue/"], "base device"),
    ("driver queue/rx", ["drivers/net/mlx5dv/queue/rx/"], "base device state mp mem queue"),
    ("driver queue/tx", ["drivers/net/mlx5dv/queue/tx/"], "base device state mp mem queue"),
    ("driver burst/rx", ["drivers/net/mlx5dv/burst/rx/"], "base state queue queue/rx"),
    ("driver burst/tx", ["drivers/net/mlx5dv/burst/tx/"], "base device state queue queue/tx"),
    ("driver burst", ["drivers/net/mlx5dv/burst/"], "base state queue/rx burst/rx burst/tx"),
    ("driver flow/match", ["drivers/net/mlx5dv/flow/match/"], "base device"),
    ("driver flow/action", ["drivers/net/mlx5dv/flow/action/"], "base state flow/match"),
    ("driver flow/place", ["drivers/net/mlx5dv/flow/place/"], "flow/match"),
    ("driver flow/rule", ["drivers/net/mlx5dv/flow/rule/"],
     "base device state queue/rx flow/match flow/action flow/place"),
    ("driver flow/async", ["drivers/net/mlx5dv/flow/async/"], "base state flow/match flow/action flow/rule"),
    ("driver flow", ["drivers/net/mlx5dv/flow/"], "base state flow/match flow/rule flow/async"),
    ("driver port", ["drivers/net/mlx5dv/port/"],
     "base device state kernel mp mem queue queue/rx queue/tx burst/rx burst/tx burst flow/match flow/rule flow"),
    ("driver ethdev", ["drivers/net/mlx5dv/ethdev/"],
     "api base device state kernel mp mem queue/rx queue/tx burst/rx burst/tx burst flow/match flow/rule flow "
     "port"),
    # Public ethdev functions only, so that any driver's ports can be measured.
    ("driver bench", ["app/rxtx-bench/", "app/flow-bench/", "app/loop-meter/"], ""),
    # Public ethdev functions and queries of verbs, so that a card is judged by what applications see of it.
    ("driver check", ["app/mlx5dv-check/"], ""),
    # What an application sees: the installed headers.
    ("driver example", ["app/examples/dpdk/"], ""),
]


def rooms():
    """[(name, paths, names of rooms that it may use)], in order, and that the order is one."""
    out = [(name, paths, uses.split()) for name, paths, uses in SOFTHCA]
    out += [(name, paths, ["driver " + use for use in uses.split()]) for name, paths, uses in DRIVER]
    known = set()
    for name, _, uses in out:
        for use in uses:
            if use not in known:
                raise ValueError(f"devtools/rooms.py: {name} may use {use}, which does not stand above it")
        known.add(name)
    return out


def below():
    """{name: all rooms below it}: those that it may use, and that these may use."""
    out = {}
    for name, _, uses in rooms():
        out[name] = set(uses).union(*(out[use] for use in uses))
    return out


def room_of(path):
    """The room of a file, by the longest beginning of its path; None: in none."""
    found = [(len(begin), name) for name, paths, _ in rooms() for begin in paths if path.startswith(begin)]
    return max(found)[1] if found else None
