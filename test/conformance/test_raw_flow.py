# SPDX-License-Identifier: BSD-3-Clause
"""Flow matchers of mlx5dv in a verbs program (test/verbs/raw_flow.c)."""
import pytest
from harness import paths
from harness.program import run_on_softhca

WANTED = """\
by MAC: queue 1 tag 0
by port, of a higher priority: queue 2 tag 1193046
dropped: sent
after it: queue 1 tag 0
the same with another tag: File exists
the same, dropped: File exists
mask in a part not named: accepted
value outside the mask: Invalid argument
field that is not modelled: Operation not supported
a rule of verbs between the two: queue 0 tag 0
still by port: queue 2 tag 1193046
two queues by the same rule: queue 0 tag 0 queue 1 tag 0
matcher in use: Device or resource busy
"""


@pytest.mark.parametrize("model", ["cx5", "cx4lx", "cx6dx"])
def test_matchers_steer_beside_verbs_rules(model):
    program = str(paths.BUILD / "test" / "verbs" / "verbs-raw-flow")
    status, text = run_on_softhca([program], [f"wire=loop,model={model}"])
    assert status == 0 and text.replace("\r", "") == WANTED, text
