# SPDX-License-Identifier: BSD-3-Clause
"""What befalls the card and its programs while frames go: one row an event, each ends as it began or is undone by
base_state()."""
import time

from .. import card as cards
from .. import paths
from . import cast

EXAMPLES = paths.BUILD / "app" / "examples"
MTU = 1500
SENT_BY_PASSER = 50


def ctl(stage, *words):
    cards.softhca("ctl", "--on", stage.card, *words)


def a_moment(stage, longest=0.2):
    time.sleep(stage.chance.uniform(0, longest))


def any_pmd(stage):
    return stage.chance.choice((stage.ours, stage.intree))


def rules(stage):
    """A rule of a program comes or goes."""
    member = any_pmd(stage)
    is_wanted = stage.chance.random() < 0.5
    member.more(is_wanted)
    return f"{member.name} has {'two rules' if is_wanted else 'one rule'}"


def rules_of_ethtool(stage):
    """A rule of the netdev comes and goes."""
    port = stage.chance.randint(5000, 6000)
    ethtool = ("ip", "netns", "exec", stage.namespace.name, "ethtool")
    cards.run_on(stage.card, *ethtool, "-N", stage.netdev, "flow-type", "udp4", "dst-port", port, "action", -1, "loc", 7)
    a_moment(stage)
    cards.run_on(stage.card, *ethtool, "-N", stage.netdev, "delete", 7)
    return f"ethtool drops UDP {port} for a while"


def mtu_of_netdev(stage):
    mtu = stage.chance.randint(576, 9000)
    stage.namespace.run("ip", "link", "set", "dev", stage.netdev, "mtu", mtu)
    return f"the netdev's MTU is {mtu}"


def mtu_of_ours(stage):
    mtu = stage.chance.randint(1000, 2000)
    stage.ours.set_mtu(mtu)
    return f"ours starts again with an MTU of {mtu}"


def long_frames(stage):
    """No receive buffer holds them."""
    count = stage.chance.randint(1, 20)
    stage.peer.send("ours-long", count)
    return f"{count} long frames for ours"


def link(stage):
    stage.was_cut = True
    ctl(stage, "link", "down")
    a_moment(stage)
    ctl(stage, "link", "up")
    return "the link went down and up"


def netdev(stage):
    stage.was_cut = True
    stage.namespace.run("ip", "link", "set", "dev", stage.netdev, "down")
    a_moment(stage)
    stage.namespace.run("ip", "link", "set", "dev", stage.netdev, "up")
    return "the netdev went down and up"


def freeze(stage):
    ctl(stage, "freeze")
    a_moment(stage, 0.1)
    ctl(stage, "thaw")
    return "the card stood still"


def ping(stage):
    stage.ping(stage.chance.randint(1, 10))
    return "Linux pinged"


def killed(stage):
    """A program is killed, is away for a moment, and comes back."""
    member = stage.chance.choice(stage.members)
    member.kill()
    a_moment(stage)
    member.start()
    return f"{member.name} was killed and started"


def restarted(stage):
    member = any_pmd(stage)
    member.restart()
    return f"{member.name} ended and was started"


def stalled(stage):
    """A program stands still for more frames than it has WQEs."""
    member = any_pmd(stage)
    count = stage.chance.randint(cast.DESCRIPTORS // 2, cast.DESCRIPTORS * 2)
    member.stall(lambda: stage.peer.send(member.name, count))
    return f"{member.name} stood still for {count} frames"


def sent(stage):
    """A program comes, sends, and ends."""
    cards.run_on(stage.card, EXAMPLES / "raw-send", "mlx5_0", cast.frames.PEER_MAC, SENT_BY_PASSER)
    stage.passed += SENT_BY_PASSER
    return f"raw-send sent {SENT_BY_PASSER} frames"


PASSERS = ((EXAMPLES / "raw-send", "mlx5_0", cast.frames.PEER_MAC, 100000), (EXAMPLES / "raw-receive", "mlx5_0", "02:00:00:00:00:66", 9),
           (EXAMPLES / "raw-dont-trap", "mlx5_0", "02:00:00:00:00:66", 9), ("ibv_devinfo", "-v"), ("rdma", "resource", "show", "qp"))


def passer_killed(stage):
    """A program comes and is killed wherever it is."""
    command = stage.chance.choice(PASSERS)
    stage.tx_unknown = stage.tx_unknown or "raw-send" in str(command[0])
    with cast.passing(stage.card, *command):
        a_moment(stage, 0.1)
    return f"{getattr(command[0], 'name', command[0])} was killed"


def another_card(stage):
    """A card more, with a program on it."""
    with cards.up("wire=loop", f"wire=unix:{stage.directory}/second") as card:
        cards.run_on(card, "ibv_devinfo")
        cards.run_on(card, EXAMPLES / "raw-send", "mlx5_0", cast.frames.PEER_MAC, 3)
    return "another card came and went"


# How often each is chosen.
EVENTS = ((rules, 8), (rules_of_ethtool, 2), (mtu_of_netdev, 3), (mtu_of_ours, 1), (long_frames, 3), (link, 3), (netdev, 2),
          (freeze, 2), (ping, 6), (killed, 3), (restarted, 1), (stalled, 3), (sent, 3), (passer_killed, 5), (another_card, 1))


def choose(chance, count):
    makers, weights = zip(*EVENTS)
    return chance.choices(makers, weights, k=count)


def base_state(stage):
    """What the cycle began with."""
    stage.namespace.run("ip", "link", "set", "dev", stage.netdev, "mtu", MTU)
    for member in (stage.ours, stage.intree):
        member.more(False)
    stage.wait_for_contexts()
