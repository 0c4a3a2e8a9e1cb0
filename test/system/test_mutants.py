# SPDX-License-Identifier: BSD-3-Clause
"""devtools/mutants: what it changes of a source file, in which order, and what it knows as equal."""
import importlib.machinery
import importlib.util
import subprocess
import sys

import pytest

from harness import paths

TOOL = paths.ROOT / "devtools/mutants"

SOURCE = r'''/* a < b */
#include <x.h>
#define SIZE (1 + 2) \
	- 3
struct thing {
	int a : 4;
};

static const int table[] = {
	7, /* 8 */
};

static int
first(int *a, char c)
{
	static_assert(sizeof(*a) == 4, "1");
	MDV_LOG(INFO, "%d", *a + 1);
	if (!a || c == '<')
		return -1;
	return a->b << 0x10u;
}

static void
first_dump(FILE *file)
{
	fputc(1 + 2, file);
}

void
second(struct thing *t)
{
	return;
	*t = (struct thing){ -t->a };
}
'''

# In the order of the file.
CHANGES = [
    ("7, /* 8 */", "8, /* 8 */"), ("7, /* 8 */", "6, /* 8 */"),
    ("if (!a || c == '<')", "if (a || c == '<')"),
    ("if (!a || c == '<')", "if (!a && c == '<')"),
    ("if (!a || c == '<')", "if (!a || c != '<')"),
    ("return -1;", "return 0;"),
    ("return a->b << 0x10u;", "return 0;"),
    ("return a->b << 0x10u;", "return a->b >> 0x10u;"),
    ("return a->b << 0x10u;", "return a->b << 0x11u;"), ("return a->b << 0x10u;", "return a->b << 0xfu;"),
]


@pytest.fixture(scope="module")
def tool():
    loader = importlib.machinery.SourceFileLoader("mutants_tool", str(TOOL))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    sys.modules[loader.name] = module
    loader.exec_module(module)
    return module


def changes(tool, path, source):
    return [tool.lines_of(mutant, source)[1:] for mutant in tool.mutants_of(path, source)]


def test_what_is_changed(tool):
    assert changes(tool, "first.c", SOURCE) == CHANGES


def test_a_condition_of_which_only_a_log_line_depends_is_kept(tool):
    source = "void\nf(int a)\n{\n\tif (a < 4)\n\t\tSHCA_WARN(\"%d\", a);\n\tif (a < 5)\n\t\tMDV_LOG(INFO, \"%d\", a);\n\tif (a < 6)\n\t\tMDV_LOG(INFO, \"few\");\n" \
        "\telse\n\t\tg(a);\n}\n"
    assert {before for before, _ in changes(tool, "f.c", source)} == {"if (a < 6)"}


def test_a_line_number_is_that_of_the_change(tool):
    for mutant in tool.mutants_of("first.c", SOURCE):
        line, before, _ = tool.lines_of(mutant, SOURCE)
        assert tool.squeeze(SOURCE.split("\n")[line - 1]) == before


def test_files_that_print_keep_their_functions(tool):
    assert changes(tool, "rooms/flow_dump.c", SOURCE) == CHANGES[:2]


@pytest.mark.parametrize("code,texts", [
    ("a<<=b->c--", ["a", "<<=", "b", "->", "c", "--"]),
    ("'\\'' \"a\\\"b<\" 0x1fULL 1.5", ["'\\''", '"a\\"b<"', "0x1fULL", "1.5"]),
    ("x /* > */ & // <\n&y", ["x", "&", "&", "y"]),
])
def test_tokens(tool, code, texts):
    assert [token.text for token in tool.tokens(code)] == texts
    assert all(code[token.start:token.end] == token.text for token in tool.tokens(code))


def test_a_return_of_a_comparison_is_negated(tool):
    source = "int\nf(int a)\n{\n\treturn a >= 5;\n}\n"
    assert ("return a >= 5;", "return !(a >= 5);") in changes(tool, "f.c", source)


def test_the_seed_decides_the_order(tool):
    sources = {"b.c": SOURCE, "a.c": SOURCE}
    first = tool.draw(sources, 5)
    assert first == tool.draw(dict(reversed(sources.items())), 5)
    assert first != tool.draw(sources, 6) and sorted(first) == sorted(tool.draw(sources, 6))
    assert len(first) == 2 * len(CHANGES)


def test_rows_of_equal_changes(tool):
    text = "# about\n\nrx.c\n- if (a <  b)\n+ if (a <= b)\n  never\n  equal\n\ntx.c\n- 1\n+ 2\nbecause\n"
    assert tool.read_equal(text) == {("rx.c", "if (a < b)", "if (a <= b)"): "never equal",
                                     ("tx.c", "1", "2"): "because"}
    with pytest.raises(ValueError):
        tool.read_equal("rx.c\n- 1\n+ 2\n")


def test_who_noticed_is_kept_for_the_next_run(tool, tmp_path):
    first = tool.Kills(tmp_path / "kills.json")
    first.add("a.c", ("1", "2"), "often")
    first.add("a.c", ("3", "4"), "often")
    first.add("a.c", ("5", "6"), "once")
    second = tool.Kills(tmp_path / "kills.json")

    def order(path, *change):
        return sorted(["never", "often", "once"], key=lambda test: second.rank(path, change, test))
    assert order("a.c", "7", "8") == ["often", "once", "never"]
    assert order("a.c", "5", "6") == ["once", "often", "never"]
    assert order("b.c", "5", "6") == ["never", "often", "once"]


def test_rooms_of_tests(tool):
    assert tool.room_of(["/x/rig.c", "/x/test/unit/drv/queue/tx/txq_test.c"]) == ["queue", "tx"]
    assert tool.room_of(["/x/test/unit/flow/rule/flow_probe_test.c"]) == ["flow", "rule"]
    assert tool.room_of(["/x/rig.c"]) == []
    path = tool.DRIVER + "/queue/tx/txq.c"
    rooms = ["queue", "tx"], ["queue", "rx"], ["flow", "tx"], []
    assert [tool.rooms_shared(path, room) for room in rooms] == [2, 1, 0, 0]
    path = tool.SOFTHCA + "/abi/core/user.c"
    assert tool.rooms_shared(path, tool.room_of(["/x/test/unit/abi/core/user_test.c"])) == 2


def test_lists():
    """The command as people type it: the same twice, and of the room that is asked for."""
    command = [TOOL, "20", "--seed", "3", "--list"]
    lists = [subprocess.run(command, text=True, stdout=subprocess.PIPE, check=True).stdout for _ in range(2)]
    assert lists[0] == lists[1] and len(lists[0].splitlines()) == 20
    assert all(line.startswith("drivers/net/mlx5dv/") and "  ->  " in line for line in lists[0].splitlines())
    other = subprocess.run([TOOL, "20", "--softhca", "--room", "cm", "--list"], text=True, stdout=subprocess.PIPE,
                           check=True)
    assert all(line.startswith("lib/softhca/cm/") for line in other.stdout.splitlines())
    rest = subprocess.run([TOOL, "15", "--seed", "3", "--skip", "5", "--list"], text=True, stdout=subprocess.PIPE,
                          check=True).stdout
    assert rest.splitlines() == lists[0].splitlines()[5:]
