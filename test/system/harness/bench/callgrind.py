# SPDX-License-Identifier: BSD-3-Clause
"""Instructions of the device's thread, by function, from what callgrind has written of each thread."""
import collections
import pathlib
import re
import subprocess

# What is inlined from another file has a row of its own, without the object's name behind it.
ROW = re.compile(r"^\s*([\d,]+) \([^)]*\)\s+\S*?([^\s:/]+?)(?:'\d+)?(?: \[.*)?$", re.M)
TOTAL = re.compile(r"^\s*([\d,]+) \([^)]*\)\s+PROGRAM TOTALS", re.M)


def by_function(text, units):
    """(all, [(function, its own)], greatest first), each divided by `units`."""
    own = collections.Counter()
    for number, name in ROW.findall(text):
        own[name] += int(number.replace(",", "")) / units
    return int(TOTAL.search(text).group(1).replace(",", "")) / units, own.most_common()


def device_thread(file):
    """The report of that thread. `file`: callgrind's, without a thread's number."""
    file = pathlib.Path(file)
    threads = [subprocess.run(["callgrind_annotate", "--threshold=99", "--auto=no", str(part)], text=True,
                              stdout=subprocess.PIPE, check=True).stdout for part in sorted(file.parent.glob(f"{file.name}-*"))]
    return next(text for text in threads if "shca_device_step" in text or "run_round" in text)
