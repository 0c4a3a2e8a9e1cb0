# SPDX-License-Identifier: BSD-3-Clause
"""mlx5dv-check on softhca. Its experiments do what --strict reports."""
import json
import os
import re
import subprocess

from harness import paths
from harness.patience import PATIENCE
from harness.testpmd import NOT_STRICT, softhca_argv

CHECK = paths.BUILD / "app/mlx5dv-check"
CABLE = ["wire=pair:c", "wire=pair:c"]


def argv_of(*args, ports=CABLE, options=NOT_STRICT, softhca=None, eal=("--no-huge",)):
    argv = softhca_argv(ports, [CHECK, *args, "--", *eal, "-m", "256", "-d", paths.plugin()[0]], options)
    if softhca:
        argv[0] = softhca
    return [str(word) for word in argv]


def environment():
    return dict(os.environ, **paths.plugin()[1])


def run(*args, stdin="", **how):
    return subprocess.run(argv_of(*args, **how), env=environment(), input=stdin, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=PATIENCE)


def check(tmp_path, *args, **how):
    """(exit status, {row: result}, the report)"""
    file = tmp_path / "report.json"
    done = run("--ibdev", "mlx5_0", "--peer", "mlx5_1", "--json", file, "--packets", "5000", *args, **how)
    assert file.exists(), done.stdout
    report = json.loads(file.read_text())
    rows = {row["row"]: row["result"] for row in report["rows"]}
    for row in report["rows"]:
        assert re.search(rf"^{re.escape(row['result'])} +{re.escape(row['row'])}(: .*)?$", done.stdout, re.M), done.stdout
    results = list(rows.values())
    assert [report[key] for key in ("passed", "failed", "absent", "seen")] == \
        [results.count(result) for result in ("pass", "FAIL", "not there", "seen")]
    return done.returncode, rows, report


def failed(report):
    """{row: why}. A report as a whole is longer than what pytest prints of one."""
    return {row["row"]: row["why"] for row in report["rows"] if row["result"] == "FAIL"}


def all_rows():
    listed = subprocess.run([CHECK, "--list"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return [re.split(r"  +", line)[0] for line in listed.splitlines()]
