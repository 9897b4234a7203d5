"""Where namespaces are not permitted, what permits them is said, by the reason that the system gave."""

import subprocess
import sys
from pathlib import Path

import pytest

from kernwright.engine.permitting import CONTAINER, LIMITS, remedy

FULL = "[Errno 28] unshare: No space left on device"
CONTAINERS = f"start the container with {CONTAINER} (docker, podman)"


def refused(reason: str) -> list[str]:
    return [f"namespaces: this machine does not permit them ({reason})", "user: kept ([Errno 13] Permission denied)"]


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    """One that permits everything."""
    for folder in ("self", "sys/user", "sys/kernel"):
        (tmp_path / folder).mkdir(parents=True)
    for name in LIMITS:
        (tmp_path / "sys/user" / name).write_text("96000\n")
    (tmp_path / "self/status").write_text("Name:\tpython\nSeccomp:\t0\nSeccomp_filters:\t0\n")
    return tmp_path


@pytest.mark.parametrize(("zero", "commands"), [
    (("mnt",), "raise user.max_mnt_namespaces from 0, as root and on the host of a container: "
        "sysctl -w user.max_mnt_namespaces=15000"),
    (("user", "net"), "raise user.max_user_namespaces and user.max_net_namespaces from 0, as root and on the host of a "
        "container: sysctl -w user.max_user_namespaces=15000 user.max_net_namespaces=15000"),
    ((), "raise a limit user.max_*_namespaces outside this container or user namespace (sysctl -w): none here is 0"),
])  # fmt: skip
def test_no_space_is_a_limit_on_their_number(proc: Path, zero: tuple[str, ...], commands: str) -> None:
    for kind in zero:
        (proc / "sys/user" / f"max_{kind}_namespaces").write_text("0\n")
    assert remedy(refused(FULL), proc) == commands


@pytest.mark.parametrize(
    "reason", ["[Errno 1] unshare: Operation not permitted", "[Errno 13] mount /: Permission denied"]
)
@pytest.mark.parametrize(("switches", "filtered", "said"), [
    ({"unprivileged_userns_clone": 0}, False,
        "permit user namespaces to ordinary users, as root: sysctl -w kernel.unprivileged_userns_clone=1"),
    ({"unprivileged_userns_clone": 1, "apparmor_restrict_unprivileged_userns": 1}, False,
        "permit user namespaces to ordinary users, as root: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"),
    ({"unprivileged_userns_clone": 0, "apparmor_restrict_unprivileged_userns": 1}, False,
        "permit user namespaces to ordinary users, as root: sysctl -w kernel.unprivileged_userns_clone=1 "
        "kernel.apparmor_restrict_unprivileged_userns=0"),
    ({"apparmor_restrict_unprivileged_userns": 1}, True, CONTAINERS),
    ({}, True, CONTAINERS),
    ({}, False, f"run it with the right to make namespaces (CAP_SYS_ADMIN), or {CONTAINERS}"),
])  # fmt: skip
def test_a_missing_right_is_a_switch_or_a_container(
    proc: Path, reason: str, switches: dict[str, int], filtered: bool, said: str
) -> None:
    for name, value in switches.items():
        (proc / "sys/kernel" / name).write_text(f"{value}\n")
    if filtered:
        (proc / "self/status").write_text("Name:\tpython\nSeccomp:\t2\nSeccomp_filters:\t1\n")
    assert remedy(refused(reason), proc) == said


@pytest.mark.parametrize(("missing", "said"), [
    (refused("[Errno 22] unshare: Invalid argument"), "use a kernel that has user, PID, mount, network"),
    (["/proc: the machine's own stays hidden or visible as it was ([Errno 1])"], "systempaths=unconfined"),
    (refused("unknown"), "permit user namespaces"),
    (["system calls: not filtered ([Errno 1] Operation not permitted)"], "permit user namespaces"),
])  # fmt: skip
def test_other_reasons(proc: Path, missing: list[str], said: str) -> None:
    assert said in remedy(missing, proc)


def test_what_the_system_does_not_tell_is_not_guessed(tmp_path: Path) -> None:
    assert "none here is 0" in remedy(refused(FULL), tmp_path)


def test_doctor_names_the_limit_that_is_0(tmp_path: Path) -> None:
    """In a user namespace of its own, whose limits are its root's to set."""
    if subprocess.run(["unshare", "-Ur", "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine permits no user namespaces")
    program = "from kernwright.engine import doctor; print(*doctor._isolation())"
    script = 'echo 0 > /proc/sys/user/max_mnt_namespaces; exec "$@"'
    command = ["unshare", "-Ur", "sh", "-c", script, "sh", sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert "sysctl -w user.max_mnt_namespaces=15000." in done.stdout, done.stderr
