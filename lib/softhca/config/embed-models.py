#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the models of the tree as C strings: embed-models.py OUTPUT MODEL..."""
import pathlib
import sys

output, *models = (pathlib.Path(word) for word in sys.argv[1:])
lines = ["/* SPDX-License-Identifier: BSD-3-Clause */", '#include "config/model_parse.h"', "",
         "const char *const shca_model_texts[] = {"]
for model in models:
    text = model.read_text().replace("\\", "\\\\").replace('"', '\\"')
    lines += [f'\t"{line}\\n"' for line in text.splitlines()]
    lines[-1] += ","
output.write_text("\n".join([*lines, "\tNULL,", "};", ""]))
