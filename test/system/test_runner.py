# SPDX-License-Identifier: BSD-3-Clause
"""softhca run: exit status, signals, what the command finds, and that nothing is left behind."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

from harness import host, paths
from harness.patience import PATIENCE

RUN = [str(paths.SOFTHCA), "run"]
TAP_MISSING = host.why_no_tap()
needs_tap = pytest.mark.skipif(TAP_MISSING is not None, reason=f"no TAP: {TAP_MISSING}")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="not root")


@pytest.fixture
def base(tmp_path):
    """Where the runner makes its private directory; a test ends with it empty."""
    directory = tmp_path / "runtime"
    directory.mkdir()
    yield directory
    assert wait_for(lambda: not list(directory.iterdir())), list(directory.rglob("*"))


@pytest.fixture
def environ(base):
    return dict(os.environ, XDG_RUNTIME_DIR=str(base))


def wait_for(condition, seconds=PATIENCE):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def listen_to_interrupts():
    """Who was started in the background of a script ignores them, and so do his children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def softhca(environ, *argv, stdin=subprocess.DEVNULL):
    return subprocess.run(RUN + [str(arg) for arg in argv], env=environ, stdin=stdin, text=True,
                          capture_output=True, timeout=PATIENCE, check=False,
                          preexec_fn=listen_to_interrupts)


def start(environ, *argv):
    return subprocess.Popen(RUN + [str(arg) for arg in argv], env=environ, text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT)


def python(code):
    return [sys.executable, "-u", "-c", code]


def is_alive(pid):
    """Not when it is a zombie: in a container there may be nobody to reap it."""
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state.rsplit(")", 1)[1].split()[0] != "Z"


@pytest.mark.parametrize("status", [0, 1, 7, 125, 255])
def test_exit_status_is_the_commands(environ, status):
    assert softhca(environ, "sh", "-c", f"exit {status}").returncode == status
    assert softhca(environ, "--port", "wire=null", "--", "sh", "-c",
                   f"exit {status}").returncode == status


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGINT])
def test_a_signal_that_ended_the_command(environ, number):
    assert softhca(environ, "sh", "-c", f"kill -{number.value} $$").returncode == 128 + number


def test_command_that_is_not_there(environ, tmp_path):
    done = softhca(environ, "no-such-command")
    assert done.returncode == 127
    assert "cannot run no-such-command: No such file or directory" in done.stderr
    plain = tmp_path / "plain"
    plain.write_text("not a program")
    done = softhca(environ, plain)
    assert done.returncode == 126
    assert f"cannot run {plain}: Permission denied" in done.stderr


def test_options_after_the_command_are_its_own(environ):
    assert softhca(environ, "echo", "--port", "x", "-h").stdout == "--port x -h\n"
    assert softhca(environ, "--", "echo", "--", "-n").stdout == "-- -n\n"


@pytest.mark.parametrize("argv, said", [
    ([], "no command to run"),
    (["--port", "wire=loop"], "no command to run"),
    (["--prot", "wire=loop", "true"], "unrecognized option '--prot'"),
    (["--port"], "option '--port' requires an argument"),
    (["--port", "wire=rope", "true"], "--port wire=rope: wire: no wire 'rope'; there are loop, "),
    (["--port=colour=red", "true"], "--port colour=red: colour: no such key; there are wire, "),
    (["--port", "speed=11g", "true"], "speed: no speed '11g'; there are 1g, "),
    (["--port", ""] * 9 + ["true"], "more than 8 ports"),
    (["--strict=very", "true"], "--strict=very: there are off, report, abort"),
])
def test_bad_options_name_the_culprit(environ, argv, said):
    done = softhca(environ, *argv)
    assert done.returncode == 125
    assert said in done.stderr
    assert done.stdout == ""


def test_subcommands():
    def run(*argv):
        return subprocess.run([paths.SOFTHCA, *argv], capture_output=True, text=True, check=False)

    assert run("version").stdout.startswith("softhca ")
    text = run("help").stdout
    for word in ("wire=", "kernel=", "model=", "mac=", "speed=", "pace=", "repeat=", "delay=", "pair:ID",
                 "tap:IFNAME", "pcap:IN[:OUT]", "unix:PATH", "cx4lx", "cx6dx"):
        assert word in text
    # Each wire with what it is.
    wires = text.split("\nWires:\n")[1].split("\nModels:\n")[0].splitlines()
    assert wires[::2] and all(re.fullmatch(r"  \S+", line) for line in wires[::2])
    assert all(re.fullmatch(r" {8}\S.*", line) for line in wires[1::2]) and len(wires) % 2 == 0
    assert run("--help").stdout == text
    assert run().returncode == 125
    wrong = run("walk")
    assert wrong.returncode == 125
    assert "no command 'walk'" in wrong.stderr


def test_what_the_command_finds(environ, base):
    code = """
import os, stat
d = os.environ["SOFTHCA_DIR"]
print(d, oct(stat.S_IMODE(os.stat(d).st_mode)))
print(os.environ["SYSFS_PATH"] == d + "/sys", os.environ["SYSFS_PCI_DEVICES"] == d + "/sys/bus/pci/devices")
print(sorted(os.listdir(os.environ["SYSFS_PATH"] + "/class/infiniband")))
print(open(d + "/options").read())
print(os.environ["LD_PRELOAD"])
"""
    done = softhca(environ, "--port", "wire=pair:a", "--port", "wire=pair:a,speed=1g", *python(code))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    directory, mode = lines[0].split()
    assert pathlib.Path(directory).parent == base and mode == "0o700"
    assert lines[1] == "True True"
    assert lines[2] == "['mlx5_0', 'mlx5_1']"
    assert lines[3].startswith("cpus ")
    assert "wire=pair:a," in lines[4] and "speed=1g," in lines[5]
    assert lines[-1] == str(paths.BUILD / "lib" / "libsofthca.so")


def test_an_existing_preload_is_kept(environ):
    other = "libm.so.6"
    done = softhca(dict(environ, LD_PRELOAD=other), "sh", "-c", "echo $LD_PRELOAD")
    assert done.stdout.strip() == f"{paths.BUILD / 'lib' / 'libsofthca.so'}:{other}"


@pytest.mark.parametrize("runtime", ["", "relative", "/nonexistent", "/tmp/" + "x" * 200])
def test_an_unusable_runtime_directory(environ, runtime):
    done = softhca(dict(environ, XDG_RUNTIME_DIR=runtime), "sh", "-c", "echo $SOFTHCA_DIR")
    assert done.returncode == 0, done.stderr
    directory = pathlib.Path(done.stdout.strip())
    assert directory.parent == pathlib.Path("/dev/shm" if os.geteuid() == 0 else "/tmp")
    assert not directory.exists()


@needs_root
@pytest.mark.parametrize("mount, base, user", [("size=1g", "/dev/shm", 0), ("size=0", "/dev/shm", 0), ("size=8m", "/tmp", 0),
                                               ("ro", "/tmp", 0), ("size=1g", "/tmp", 65534)])
def test_memory_for_the_directory(mount, base, user):
    """It is not where its files have no room, as in a container with little shared memory, nor where a user's are removed."""
    script = (f"mount -t tmpfs -o size=1m none /tmp && mount -t tmpfs -o {mount} none /dev/shm && "
              f"exec setpriv --reuid {user} --clear-groups {' '.join(RUN)} sh -c 'dirname $SOFTHCA_DIR'")
    done = subprocess.run(["unshare", "--mount", "env", "-u", "XDG_RUNTIME_DIR", "sh", "-c", script], text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False)
    assert (done.stdout, done.stderr) == (base + "\n", "")


def test_standard_input_is_the_commands(environ):
    done = subprocess.run(RUN + ["cat"], env=environ, input="text\n", text=True,
                          capture_output=True, timeout=PATIENCE, check=False)
    assert done.stdout == "text\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1,
                                    signal.SIGUSR2, signal.SIGQUIT])
def test_signals_are_passed_on(environ, number):
    code = f"""
import signal, sys, time
signal.signal({number.value}, lambda *_: sys.exit(42))
print("ready")
while True:
    time.sleep(0.05)  # one that comes right before signal.pause() would not end it
"""
    runner = start(environ, *python(code))
    assert runner.stdout.readline() == "ready\n"
    runner.send_signal(number)
    assert runner.wait(PATIENCE) == 42
    runner.stdout.close()


def test_a_signal_the_command_does_not_catch(environ):
    runner = start(environ, "sh", "-c", "echo ready; exec sleep 1000")
    assert runner.stdout.readline() == "ready\n"
    runner.terminate()
    assert runner.wait(PATIENCE) == 128 + signal.SIGTERM
    runner.stdout.close()


def test_interrupt_from_the_terminal_reaches_the_command_once(environ):
    """The terminal signals the whole group: the runner must not add a second one."""
    code = """
import os, pty, signal, sys, time
pid, master = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
def read():
    try:
        return os.read(master, 1000)
    except OSError:
        return b""
text = b""
while b"ready" not in text:
    text += read()
os.write(master, b"\\x03")
status = os.waitpid(pid, 0)[1]
while True:
    piece = read()
    if not piece:
        break
    text += piece
print(os.waitstatus_to_exitcode(status), text.count(b"interrupt"))
"""
    command = """
import signal, time
taken = []
signal.signal(signal.SIGINT, lambda *_: taken.append(1))
print("ready")
while not taken:
    time.sleep(0.05)
time.sleep(0.5) # for another one
print(*["interrupt"] * len(taken))
"""
    done = subprocess.run(python(code) + RUN + python(command), env=environ, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False)
    assert done.stdout.split() == ["0", "1"], done.stderr


def test_killed_command_leaves_nothing(environ, base):
    runner = start(environ, "sh", "-c", "echo $$; exec sleep 1000")
    pid = int(runner.stdout.readline())
    assert list(base.iterdir())
    os.kill(pid, signal.SIGKILL)
    assert runner.wait(PATIENCE) == 128 + signal.SIGKILL
    assert not list(base.iterdir())
    runner.stdout.close()


def test_killed_runner_leaves_nothing(environ, base):
    runner = start(environ, "sh", "-c", "echo $$; exec sleep 1000")
    pid = int(runner.stdout.readline())
    assert list(base.iterdir())
    runner.kill()
    runner.wait(PATIENCE)
    assert wait_for(lambda: not is_alive(pid)), "the command outlives its runner"
    assert wait_for(lambda: not list(base.iterdir()))
    # Nobody holds the pipe any more: a reader of the output comes to its end.
    assert runner.stdout.read() == ""
    runner.stdout.close()


def cleanup_of(runner):
    """The one child of the runner that is called so."""
    children = pathlib.Path(f"/proc/{runner.pid}/task/{runner.pid}/children").read_text().split()
    return next(int(pid) for pid in children
                if pathlib.Path(f"/proc/{pid}/comm").read_text().strip() == "softhca-cleanup")


def test_killed_cleanup_leaves_nothing(environ, base):
    runner = start(environ, "sh", "-c", "echo $$; exec sleep 1000")
    pid = int(runner.stdout.readline())
    os.kill(cleanup_of(runner), signal.SIGKILL)
    os.kill(pid, signal.SIGTERM)
    assert runner.wait(PATIENCE) == 128 + signal.SIGTERM
    assert not list(base.iterdir())
    runner.stdout.close()


def test_what_the_command_adds_is_removed_too(environ):
    done = softhca(environ, "sh", "-c",
                   'mkdir -p "$SOFTHCA_DIR/more/deep"; touch "$SOFTHCA_DIR/more/deep/file";'
                   'ln -s /etc "$SOFTHCA_DIR/more/etc"; chmod 500 "$SOFTHCA_DIR/more/deep"')
    assert done.returncode == 0
    assert pathlib.Path("/etc/passwd").exists()


def test_two_runners_at_once(environ, base):
    runners = [start(environ, "sh", "-c", "echo $SOFTHCA_DIR; exec sleep 1000") for _ in range(2)]
    directories = {runner.stdout.readline() for runner in runners}
    assert len(directories) == 2 and len(list(base.iterdir())) == 2
    for runner in runners:
        runner.terminate()
        assert runner.wait(PATIENCE) == 128 + signal.SIGTERM
        runner.stdout.close()


@needs_tap
def test_taps_are_there_before_the_command_and_gone_after(environ):
    wire, kernel = host.name("w"), host.name("k")
    done = softhca(environ, "--port", f"wire=tap:{wire},kernel=tap:{kernel},mac=02:00:00:aa:bb:cc",
                   "sh", "-c", f"cat /sys/class/net/{wire}/ifindex /sys/class/net/{kernel}/address;"
                   'cat "$SYSFS_PCI_DEVICES"/*/net/*/ifindex;'
                   f"cat /sys/class/net/{kernel}/ifindex")
    assert done.returncode == 0, done.stderr
    index, address, ours, theirs = done.stdout.split()
    assert int(index) > 0 and address == "02:00:00:aa:bb:cc" and ours == theirs
    assert not pathlib.Path(f"/sys/class/net/{wire}").exists()
    assert not pathlib.Path(f"/sys/class/net/{kernel}").exists()


@needs_tap
def test_taps_of_a_killed_runner_are_gone(environ):
    kernel = host.name("k")
    runner = start(environ, "--port", f"kernel=tap:{kernel}", "sh", "-c", "echo $$; exec sleep 1000")
    assert runner.stdout.readline()
    assert pathlib.Path(f"/sys/class/net/{kernel}").exists()
    runner.kill()
    runner.wait(PATIENCE)
    assert wait_for(lambda: not pathlib.Path(f"/sys/class/net/{kernel}").exists())
    runner.stdout.close()


@needs_tap
def test_a_users_own_tap_stays_and_gives_the_port_its_address(environ):
    kernel = host.name("k")
    host.run("ip", "tuntap", "add", "dev", kernel, "mode", "tap")
    try:
        host.run("ip", "link", "set", "dev", kernel, "address", "02:00:00:11:22:33")
        done = softhca(environ, "--port", f"kernel=tap:{kernel}", "sh", "-c",
                       'cat "$SYSFS_PATH/class/infiniband/mlx5_0/node_guid"')
        assert done.stdout == "0200:00ff:fe11:2233\n"
        assert pathlib.Path(f"/sys/class/net/{kernel}/address").read_text() == "02:00:00:11:22:33\n"
    finally:
        host.run("ip", "link", "del", "dev", kernel)


@needs_tap
def test_a_tap_in_use(environ):
    kernel = host.name("k")
    runner = start(environ, "--port", f"kernel=tap:{kernel}", "sh", "-c", "echo $$; exec sleep 1000")
    assert runner.stdout.readline()
    done = softhca(environ, "--port", f"kernel=tap:{kernel}", "true")
    assert done.returncode == 125
    assert f"tap:{kernel}: cannot attach: Device or resource busy" in done.stderr
    runner.terminate()
    runner.wait(PATIENCE)
    runner.stdout.close()


def test_an_interface_that_is_no_tap(environ):
    done = softhca(environ, "--port", "wire=tap:lo", "true")
    assert done.returncode == 125
    assert "tap:lo: cannot " in done.stderr


@needs_root
@needs_tap
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="no setpriv")
def test_missing_permission_is_named(environ, base):
    base.chmod(0o777)
    argv = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] + RUN
    done = subprocess.run(argv + ["--port", f"kernel=tap:{host.name('k')}", "true"],
                          env=dict(environ, XDG_RUNTIME_DIR="/tmp"), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=PATIENCE, check=False)
    if done.returncode in (126, 127) or "Permission denied" in done.stderr and "tun" not in done.stderr:
        pytest.skip(f"the build directory is not open to user 65534: {done.stderr.strip()}")
    assert done.returncode == 125
    assert "CAP_NET_ADMIN" in done.stderr or "permission on the node" in done.stderr


@needs_root
@pytest.mark.skipif(shutil.which("unshare") is None, reason="no unshare")
def test_missing_tun_node_is_named(environ):
    script = 'mount -t tmpfs none /dev/net && exec "$@"'
    argv = ["unshare", "--mount", "sh", "-c", script, "sh"] + RUN
    if not pathlib.Path("/dev/net").is_dir():
        argv = RUN
    done = subprocess.run(argv + ["--port", "wire=tap:absent", "true"], env=environ,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE,
                          check=False)
    if "unshare:" in done.stderr or "mount:" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 125
    assert "cannot open /dev/net/tun: No such file or directory (is the kernel module tun loaded?)" \
        in done.stderr
