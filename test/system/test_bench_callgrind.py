# SPDX-License-Identifier: BSD-3-Clause
"""The instructions of a thread by function, as callgrind_annotate of Debian 12 prints them."""
from harness.bench import callgrind

REPORT = """\
--------------------------------------------------------------------------------
Ir
--------------------------------------------------------------------------------
200,000 (100.0%)  PROGRAM TOTALS

--------------------------------------------------------------------------------
Ir                   file:function
--------------------------------------------------------------------------------
80,000 (40.00%)  build/../lib/softhca/hw/format/csum.h:shca_rq_run_receive
60,000 (30.00%)  build/../lib/softhca/hw/queue/rq_run.c:shca_rq_run_receive [/build/lib/libsofthca.so]
40,000 (20.00%)  build/../lib/softhca/hw/queue/mpw.c:shca_mpw_queue'2 [/build/lib/libsofthca.so]
19,000 ( 9.50%)  ./nptl/pthread_mutex_lock.c:pthread_mutex_lock@@GLIBC_2.2.5 [/usr/lib/libc.so.6]
"""


def test_what_is_inlined_counts():
    total, rows = callgrind.by_function(REPORT, 1000)
    assert total == 200
    assert rows == [("shca_rq_run_receive", 140), ("shca_mpw_queue", 40), ("pthread_mutex_lock@@GLIBC_2.2.5", 19)]
