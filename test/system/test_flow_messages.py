# SPDX-License-Identifier: BSD-3-Clause
"""Every row of the guide's page of messages is what the driver says: typed here, or by a unit test."""
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import subprocess

import pytest
from harness import paths
from harness.patience import PATIENCE
from harness.testpmd import Testpmd


def load_check():
    loader = importlib.machinery.SourceFileLoader(
        "check_messages", str(paths.ROOT / "devtools/check-messages"))
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def release(text):
    return tuple(int(part) for part in text.split(".")[:2])


CHECK = load_check()
DPDK = release(subprocess.run(["pkg-config", "--modversion", "libdpdk"], check=True,
                              capture_output=True, text=True).stdout)


def is_said_here(other):
    """Whether the DPDK of this machine has what a row's second cell names."""
    found = re.match(r"from DPDK (\S+) on: ", other)
    return not found or release(found.group(1)) <= DPDK


ROWS = [(message, other) for message, other in CHECK.rows() if is_said_here(other)]
TYPED = [(message, other[2:-2]) for message, other in ROWS if other.startswith("``")]
TOLD = [message for message, other in ROWS if not other.startswith(("``", "nobody: "))]


def said(message):
    """A pattern for the message with its <places> filled in."""
    return re.compile(".*".join(re.escape(part) for part in re.split(CHECK.PLACE, message)))


@pytest.fixture(scope="module")
def pmd():
    with Testpmd(args=["--rxq=10", "--txq=2"]) as made:
        yield made


@pytest.fixture(scope="module")
def unit_messages(tmp_path_factory):
    """What the driver said in the unit tests of the flow engine: in those of this run, if it had them."""
    if "MDV_MESSAGES" in os.environ:
        return pathlib.Path(os.environ["MDV_MESSAGES"]).read_text().splitlines()
    path = tmp_path_factory.mktemp("messages") / "messages"
    programs = sorted((paths.BUILD / "test/unit/flow").glob("*_test"))
    assert programs
    for program in programs:
        done = subprocess.run([program], env=dict(os.environ, MDV_MESSAGES=str(path)),
                              capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, f"{program.name}\n{done.stdout}{done.stderr}"
    return path.read_text().splitlines()


@pytest.mark.parametrize("message,rule", TYPED, ids=[rule.replace("ingress pattern ", "")
                                                     for _, rule in TYPED])
def test_typed(pmd, message, rule):
    answer = pmd.refused_flow(rule)
    assert said(message).search(answer), answer


def test_told_by_unit_tests(unit_messages):
    unseen = [message for message in TOLD
              if not any(said(message).fullmatch(line) for line in unit_messages)]
    assert not unseen, "no unit test sees\n" + "\n".join(unseen)
