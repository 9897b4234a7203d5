"""Gathers the wheels that a machine without a network lacks, Kernwright's own among them, for its Python and system.

    python scripts/gather_wheels.py wheels --extras tune --python 3.12 --have pip-list.txt

`pip-list.txt` is what `python -m pip list` prints on that machine; what it names is not gathered, unless it is too old.
Arguments after `--` go to `pip download`. Needs pip and `packaging`.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from email.message import Message
from email.parser import HeaderParser
from pathlib import Path
from typing import NoReturn

try:
    from packaging.markers import Marker
    from packaging.requirements import Requirement
    from packaging.specifiers import SpecifierSet
    from packaging.utils import canonicalize_name, parse_wheel_filename
except ModuleNotFoundError:
    sys.exit("This script needs packaging; install it with: python -m pip install packaging")

ROOT = Path(__file__).resolve().parents[1]
OLDEST_GLIBC = 17
"""Wheels are looked for from glibc 2.17 (also named manylinux2014) up to what the machine has."""


@dataclass
class Needed:
    """One project that the machine lacks."""

    specifier: SpecifierSet
    because: str
    extras: set[str] = field(default_factory=set)
    wheel: Path | None = None


def refuse(sentence: str) -> NoReturn:
    """End with what an option should have been."""
    print(sentence, file=sys.stderr)
    sys.exit(2)


class Gathering:
    """Follows requirements as they hold on the other machine; pip's own resolver would take this one's Python."""

    def __init__(self, options: argparse.Namespace, pip: Sequence[str]) -> None:
        self._out: Path = options.out
        self._python: str = options.python
        self._pip = list(pip)
        self._platforms = platforms(options.machine, options.glibc)
        self._have = had(options.have) if options.have else {}
        self._environment = environment(options.python, options.machine)
        self.needed: dict[str, Needed] = {}

    def own(self, project: Path, extras: set[str]) -> str:
        """Build the wheel of a project and note what it requires with these extras; the project's name."""
        with tempfile.TemporaryDirectory() as folder:
            call_pip(["wheel", "--no-deps", "--wheel-dir", folder, str(project)], f"the wheel of {project}")
            wheel = self._kept(folder)
        name = name_of(wheel)
        offered = {canonicalize_name(extra) for extra in metadata_of(wheel).get_all("Provides-Extra") or ()}
        if unknown := extras - offered:
            refuse(f"There is no extra {', '.join(sorted(unknown))}; there are: {', '.join(sorted(offered))}.")
        self.needed[name] = Needed(SpecifierSet(), "you", extras, wheel)
        self._require_all(name)
        return name

    def fetch(self) -> None:
        """Download until nothing is lacking; each wheel may bring requirements of its own."""
        while lacking := [name for name, needed in self.needed.items() if needed.wheel is None]:
            for name in lacking:
                self.needed[name].wheel = self._downloaded(name)
                self._require_all(name)

    def _require_all(self, name: str) -> None:
        needed = self.needed[name]
        assert needed.wheel is not None
        for text in metadata_of(needed.wheel).get_all("Requires-Dist") or ():
            requirement = Requirement(text)
            if requirement.marker is None or self._holds(requirement.marker, needed.extras):
                self._require(requirement, name)

    def _holds(self, marker: Marker, extras: set[str]) -> bool:
        return any(marker.evaluate({**self._environment, "extra": extra}) for extra in ("", *sorted(extras)))

    def _require(self, requirement: Requirement, because: str) -> None:
        name = canonicalize_name(requirement.name)
        if name in self._have and requirement.specifier.contains(self._have[name], prereleases=True):
            return
        if name in self._have and name not in self.needed:
            print(f"{name} {self._have[name]} over there is not {requirement.specifier}, as {because} needs it")
        known = self.needed.setdefault(name, Needed(SpecifierSet(), because))
        extras = known.extras | requirement.extras
        specifier = known.specifier & requirement.specifier
        if (specifier, extras) != (known.specifier, known.extras):
            # What is there already may be ruled out by the new requirement, so it is chosen anew.
            ruled_out, known.wheel = known.wheel, None
            known.specifier, known.extras = specifier, extras
            if ruled_out is not None:
                ruled_out.unlink()

    def _downloaded(self, name: str) -> Path:
        needed = self.needed[name]
        with tempfile.TemporaryDirectory() as folder:
            where = [f"--platform={each}" for each in self._platforms]
            how = ["--no-deps", "--only-binary=:all:", "--implementation=cp", f"--python-version={self._python}"]
            wanted = f"{name}{needed.specifier}"
            call_pip(["download", *how, *where, "--dest", folder, *self._pip, wanted], f"{wanted} ({needed.because})")
            return self._kept(folder)

    def _kept(self, folder: str) -> Path:
        [found] = Path(folder).glob("*.whl")
        shutil.copyfile(found, self._out / found.name)
        return self._out / found.name


def call_pip(arguments: Sequence[str], what: str) -> None:
    """Run pip; where it fails, end with its last lines."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = "\n".join(done.stderr.strip().splitlines()[-5:])
        sys.exit(f"pip gave no wheel for {what}; it said:\n{last}")


def platforms(machine: str, glibc: str) -> list[str]:
    """pip's names of Linux systems with at most this glibc (as in `2.35-0ubuntu3` or `glibc 2.35`), newest first."""
    found = re.search(r"(?<![\d.])2\.(\d+)", glibc)
    if found is None:
        refuse(f"--glibc {glibc!r} names no version such as 2.35; ask ldd --version over there.")
    return [f"manylinux_2_{minor}_{machine}" for minor in range(int(found[1]), OLDEST_GLIBC - 1, -1)] + [
        f"manylinux2014_{machine}",
        f"linux_{machine}",
    ]


def environment(python: str, machine: str) -> dict[str, str]:
    """What environment markers see on the other machine."""
    return {
        "implementation_name": "cpython",
        "implementation_version": f"{python}.0",
        "os_name": "posix",
        "platform_machine": machine,
        "platform_python_implementation": "CPython",
        "platform_release": "",
        "platform_system": "Linux",
        "platform_version": "",
        "python_full_version": f"{python}.0",
        "python_version": python,
        "sys_platform": "linux",
    }


def had(path: Path) -> dict[str, str]:
    """Name and version of everything in the output of `pip list` or `pip freeze`."""
    wanted = "it should hold what `python -m pip list` prints on the other machine"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        refuse(f"{path} cannot be read ({error.strerror}); {wanted}.")
    except UnicodeDecodeError:
        refuse(f"{path} is no text in UTF-8; {wanted}.")
    found = [match for line in lines if (match := re.match(r"([A-Za-z0-9][\w.-]*)(?:==|\s+)(\d\S*)", line))]
    if not found:
        refuse(f"{path} names no package; {wanted}.")
    return {canonicalize_name(match[1]): match[2] for match in found}


def metadata_of(wheel: Path) -> Message:
    """The METADATA of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        [name] = [each for each in archive.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", each)]
        return HeaderParser().parsestr(archive.read(name).decode())


def name_of(wheel: Path) -> str:
    """The project's name."""
    return parse_wheel_filename(wheel.name)[0]


def twice(out: Path) -> dict[str, list[str]]:
    """Projects of which the folder holds more than one wheel."""
    by_name: dict[str, list[str]] = {}
    for wheel in sorted(out.glob("*.whl")):
        by_name.setdefault(name_of(wheel), []).append(wheel.name)
    return {name: wheels for name, wheels in by_name.items() if len(wheels) > 1}


def main(arguments: Sequence[str]) -> None:
    """Gather, check, and say how to install."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(description="Gather the wheels that a machine without a network lacks.")
    parser.add_argument("out", type=Path, help="the folder to fill")
    parser.add_argument(
        "--extras", action="append", help="extras of Kernwright, with commas or several times; tune by default"
    )
    parser.add_argument("--have", type=Path, help="what `python -m pip list` prints over there")
    parser.add_argument("--python", default="3.12", help="its Python; 3.12 by default")
    parser.add_argument("--machine", default="x86_64", help="its processor; x86_64 by default")
    parser.add_argument("--glibc", default="2.35", help="its C library (ldd --version); 2.35 by default")
    parser.add_argument("--project", type=Path, default=ROOT, help="the checkout whose wheel comes along; this one")
    options = parser.parse_args(arguments[:end])
    extras = {
        canonicalize_name(extra.strip()) for extra in ",".join(options.extras or ["tune"]).split(",") if extra.strip()
    }

    gathering = Gathering(options, arguments[end + 1 :])
    try:
        options.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        refuse(f"{options.out} cannot be filled ({error.strerror}); name another folder.")
    name = gathering.own(options.project, set(extras))
    gathering.fetch()
    if doubled := twice(options.out):
        rows = "\n".join(f"  {', '.join(wheels)}" for wheels in doubled.values())
        sys.exit(f"{options.out} holds more than one version of these; delete the older ones:\n{rows}")
    for each in sorted(gathering.needed.values(), key=lambda needed: str(needed.wheel)):
        assert each.wheel is not None
        print(f"{each.wheel.name}  {each.wheel.stat().st_size / 1e6:.1f} MB")
    wanted = f"{name}[{','.join(sorted(extras))}]" if extras else name
    print(f"\nCopy {options.out} over and install with:")
    install = f"python{options.python} -m pip install --no-index --find-links {options.out.resolve().name}"
    # To pip an older build of the same version is as good as this one: it would keep it, with the requirements it had.
    print(f"{install} --no-deps --force-reinstall {name}")
    print(f"{install} '{wanted}'")


if __name__ == "__main__":
    main(sys.argv[1:])
