# SPDX-License-Identifier: BSD-3-Clause
"""Who gets into a card: whoever could open a device node of that owner and mode, with the privileges of the machine."""
import contextlib
import os
import shutil
import subprocess

import pytest
from harness import card as cards
from harness import frames, host, paths
from harness.ordinary import public_tree
from harness.patience import PATIENCE
from harness.terminal import Terminal
from harness.testpmd import Testpmd, eal_prefix

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")
SEND = ("raw-send", "mlx5_0", frames.PEER_MAC, 2)
NOBODY = ["--reuid=65534", "--regid=65534", "--clear-groups"]
USERS = {
    "root": [],
    "nobody": ["setpriv", *NOBODY],
    "root's group": ["setpriv", "--reuid=65534", "--regid=65534", "--groups=0"],
    "whom modes do not stop": ["setpriv", *NOBODY, "--inh-caps=+dac_override", "--ambient-caps=+dac_override"],
    "root in a user namespace": ["unshare", "-Ur"],
    "nobody in a user namespace": ["setpriv", *NOBODY, "unshare", "-Ur"],
    "root in a container": ["unshare", "-Urpfmniu", "--mount-proc"],
    "nobody in a container": ["setpriv", *NOBODY, "unshare", "-Urpfmniu", "--mount-proc"],
    "root without /proc of its own": ["unshare", "-pf"],
}
WHY_NOT = subprocess.run(["unshare", "-Ur", "true"], capture_output=True, text=True, check=False).stderr.strip() or None


@pytest.fixture(name="tree", scope="module")
def fixture_tree():
    with public_tree() as tree:
        for name in ("raw-send", "raw-receive"):
            shutil.copy(paths.BUILD / "app" / "examples" / name, tree.path)
        yield tree


def run(argv):
    done = subprocess.run([str(word) for word in argv], stdin=subprocess.DEVNULL, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=PATIENCE, check=False)
    return done.returncode, done.stdout


@contextlib.contextmanager
def up(tree, mode, port="wire=null"):
    """A card of root's, by the public copy of softhca."""
    card = cards.name()
    assert run([tree.softhca, "up", "--port", f"{port},mac={frames.PORT_MAC}", "--mode", mode, card])[0] == 0
    try:
        yield card
    finally:
        run([tree.softhca, "down", card])


def on(tree, user, card, *command):
    """A command on the card as this user, whose runtime directory is the tree's."""
    environment = ["env", f"XDG_RUNTIME_DIR={tree.runtime}"] if user.startswith("nobody") else []
    return [*USERS[user], *environment, tree.softhca, "run", "--on", card, "--", *command]


@pytest.mark.parametrize("mode", ["0600", "0660", "0606", "0666", "0640", "0604"])
@pytest.mark.parametrize("user", USERS)
def test_who_gets_in(tree, user, mode):
    """Where a file of root's with this mode can be opened for reading and writing, as libibverbs opens nodes."""
    if "unshare" in USERS[user] and WHY_NOT:
        pytest.skip(WHY_NOT)
    node = tree.path / "node"
    node.touch()
    node.chmod(int(mode, 8))
    may = run([*USERS[user], "sh", "-c", f"exec 3<>{node}"])[0] == 0
    with up(tree, mode) as card:
        status, said = run(on(tree, user, card, "ibv_devinfo"))
        assert (status == 0 and "PORT_ACTIVE" in said) == may, said
        assert may or (status == 125 and f"{card}: Permission denied" in said), said


@pytest.mark.parametrize("user, wanted", [
    ("root", True), ("nobody", False), ("whom modes do not stop", False), ("root without /proc of its own", True),
    ("root in a user namespace", False), ("nobody in a user namespace", False), ("root in a container", False)])
def test_raw_packets_take_the_machines_privilege(tree, user, wanted):
    """CAP_NET_RAW, as capable() asks for it: not that of a user namespace below the card's."""
    if "unshare" in USERS[user] and WHY_NOT:
        pytest.skip(WHY_NOT)
    with up(tree, "0666") as card:
        status, said = run(on(tree, user, card, tree.path / SEND[0], *SEND[1:]))
        assert (status == 0) == wanted, said
        assert wanted or "ibv_create_qp_ex: Operation not permitted" in said, said


def add_rule(card, netdev):
    return cards.on(card, "ethtool", "-N", netdev, "flow-type", "udp4", "dst-port", "53", "action", "-1", "loc", "1")


@pytest.mark.skipif(host.why_no_tap() is not None, reason=str(host.why_no_tap()))
def test_a_netdev_is_its_network_namespaces(tree):
    """Who may administer the network of a namespace is its owner: not root of a user namespace below, unless it is its own."""
    if WHY_NOT:
        pytest.skip(WHY_NOT)
    netdev = host.name("c")
    with up(tree, "0600", f"wire=null,kernel=tap:{netdev}") as card:
        assert run(add_rule(card, netdev))[0] == 0
        for command in add_rule(card, netdev), cards.on(card, "ethtool", "-K", netdev, "ntuple", "on"):
            status, said = run(["unshare", "-Ur", *command])
            assert "Operation not permitted" in said, said
        with subprocess.Popen(["unshare", "-Urn", "sh"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as shell:
            shell.stdin.write("echo in\n")
            shell.stdin.flush()
            assert shell.stdout.readline() == "in\n"
            host.run("ip", "link", "set", "dev", netdev, "netns", shell.pid)
            # The device looks where its netdev is every 10 ms, if it gets a CPU.
            command = f"for i in $(seq 300); do {' '.join(add_rule(card, netdev))} 2>&1 && echo done && break; sleep 0.1; done\n"
            said, _ = shell.communicate(command, timeout=PATIENCE)
            assert said.endswith("done\n"), said


@pytest.mark.parametrize("container", ["-Ur", "-Urpfmniu --mount-proc"])
def test_a_card_in_a_container(tree, container):
    """Made by an ordinary user. There its privileges are those of the user namespace, whose root has all."""
    if WHY_NOT:
        pytest.skip(WHY_NOT)
    script = ('"$0" up --port wire=null inside && "$0" run --on inside -- "$1" mlx5_0 02:00:00:00:00:02 2 && "$0" ctl --on inside stats; '
              'status=$?; "$0" down inside; exit $status')
    status, said = run([*tree.as_nobody(["unshare", *container.split(), "sh", "-c", script]), tree.softhca, tree.path / SEND[0]])
    assert status == 0 and "tx_frames      2" in said, said


def test_testpmd_of_another_user(tree):
    """All that a port can, with CAP_NET_RAW and the mode; and root beside it on the same port."""
    with up(tree, "0666", "wire=loop") as card:
        prefix = eal_prefix()

        class OtherTestpmd(Testpmd):
            def __init__(self):  # pylint: disable=super-init-not-called
                self.prefix, self.banner, self.status = prefix, "", None
                self.terminal = Terminal([*tree.as_nobody(on(tree, "root", card), ["net_raw"]), "dpdk-testpmd", "-l", "0,1",
                                          "--no-huge", "-m", "128", "--no-pci", "--no-telemetry", f"--file-prefix={prefix}", "-d",
                                          tree.plugin, "--vdev", "net_mlx5dv0,ibdev=mlx5_0", "--", "-i",
                                          "--total-num-mbufs=1536", "--rxd=128", "--txd=128"])

        with OtherTestpmd() as pmd:
            pmd.flow("ingress pattern eth / end actions passthru / queue index 0 / end")
            pmd.cmd("start tx_first 1")
            pmd.wait_stats(lambda stats: stats["RX-packets"] > 1000)
            text = cards.run_on(card, "rdma", "resource", "show", "qp").stdout
            assert f"pid {pmd.terminal.process.pid} comm dpdk-testpmd" in text, text
            assert run(on(tree, "root", card, tree.path / SEND[0], *SEND[1:]))[0] == 0
            assert pmd.stop()["TX-packets"] > 1000


def test_what_is_the_owners(tree):
    """Another user may use a card whose mode lets him in, see that it is there, and neither end nor change it."""
    with up(tree, "0666") as card:
        as_nobody = tree.as_nobody([tree.softhca])
        status, said = run([*as_nobody, "down", card])
        assert status == 125 and f"cannot end {card}: " in said and "Operation not permitted" in said, said
        status, said = run([*as_nobody, "ctl", "--on", card, "link", "down"])
        assert status == 1 and "Permission denied" in said, said
        assert f"{card} " in run([*as_nobody, "list"])[1]
        assert run([tree.softhca, "ctl", "--on", card, "stats"])[0] == 0
    with up(tree, "0600") as card:
        assert f"{card:<16} of another user, who lets no other in" in run([*tree.as_nobody([tree.softhca]), "list"])[1]


def test_down_from_another_namespace_of_processes(tree):
    """There the keeper has no number, and has not ended for that."""
    if WHY_NOT:
        pytest.skip(WHY_NOT)
    with up(tree, "0600") as card:
        status, said = run(["unshare", "-Urpf", tree.softhca, "down", card])
        assert status == 125 and "it is in another namespace of processes" in said
        assert run([tree.softhca, "run", "--on", card, "--", "true"])[0] == 0


def test_a_umask_hides_no_card(tree):
    """Who makes the first card has a umask that keeps files from others; the mode says who gets in."""
    softhca = "/mnt/" + str(tree.softhca.relative_to(tree.path))
    script = (f"mount --bind {tree.path} /mnt && mount -t tmpfs none /run && chmod 755 /run && umask 077 && "
              f"{softhca} up --port wire=null --mode 0666 card && umask 022 && "
              f"setpriv {' '.join(NOBODY)} {softhca} run --on card -- ibv_devinfo; status=$?; "
              f"{softhca} down card; exit $status")
    status, said = run(["unshare", "--mount", "--propagation", "private", "sh", "-c", script])
    assert status == 0 and "hca_id:\tmlx5_0" in said
