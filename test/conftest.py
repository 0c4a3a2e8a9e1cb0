# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures every suite uses. What this machine forbids is skipped with its reason, never passed."""
import os

import pytest

from harness import host, mode, paths


def pytest_sessionstart(session):
    for path in (paths.SOFTHCA, paths.PLUGIN):
        if not path.exists() and not session.config.option.collectonly:
            pytest.exit(f"{path} is not built: ninja -C {paths.BUILD}", returncode=2)
    if mode.is_foreign():
        os.environ.update(mode.foreign())


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """A test that a file has from another one is that test again, in another mode."""
    for item in items:
        if item.function.__module__ != item.module.__name__:
            item.add_marker("long")


@pytest.fixture(scope="session")
def tap_allowed():
    reason = host.why_no_tap()
    if reason:
        pytest.skip(f"no TAP netdevs here: {reason}")


@pytest.fixture
def namespace(tap_allowed):
    reason = host.why_no_netns()
    if reason:
        pytest.skip(f"no network namespaces here: {reason}")
    with host.Namespace() as made:
        yield made
