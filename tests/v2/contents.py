"""What is on the test machine: this machine's Python, the lab's packages, and the lab itself.

It has no network, so nothing can be installed there. Every file keeps its path, so that links
and the settings of the virtual environment stay true.
"""

from __future__ import annotations

import importlib.util
import os
import py_compile
import re
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.v2.cpio import Archive

ROOT = Path(__file__).resolve().parents[2]
DATABASE = "/opt/lab.sqlite3"
PROGRAMS = ROOT / ".build" / "cpulab" / "current"
# Large, and nothing on the machine needs them.
OTHER_PACKAGES = re.compile(
    r"playwright|plotly$|mypy|\w+__mypyc|ruff|grimp|greenlet|setuptools|ast_serialize|importlinter"
    r"|django[-_]stubs|axe_|pip"
)
OTHER_LIBRARY = re.compile(
    r"(site-packages|dist-packages|test|config-.*|idlelib|lib2to3|tkinter|turtledemo|ensurepip)$"
)
NOT_SOURCE = re.compile(r"(\..*|var|staticfiles|__pycache__)$")
USERS = {"root": 0, "lab": 1000, "nobody": 65534}


def write_base(archive: Archive, busybox: Path) -> None:
    """Everything but the lab's own files: changes with the locked packages and with Python."""
    for name in ("proc", "sys", "dev", "tmp", "run", "root"):
        archive.folder(name)
    archive.node("dev/console", 5, 1)
    archive.copy(busybox, "/bin/busybox")
    archive.link("/bin/sh", "busybox")
    passwd = [f"{name}:x:{uid}:{uid}::/tmp:/bin/sh" for name, uid in USERS.items()]
    archive.text("/etc/passwd", "\n".join(passwd) + "\n")
    archive.text("/etc/group", "".join(f"{name}:x:{uid}:\n" for name, uid in USERS.items()))
    archive.text("/etc/hosts", "127.0.0.1 localhost v2\n")
    archive.text("/etc/throttle-lab", f"{ROOT}\n")
    shared = [_python(archive), *_packages(archive)]
    for library in _libraries(shared):
        archive.copy(library)


def write_lab(archive: Archive, scenarios: Sequence[str]) -> None:
    """The lab as it is now: source, byte code, workload programs, and an empty database."""
    archive.text("/etc/scenarios", " ".join(scenarios))
    archive.copy(Path(__file__).with_name("init"), "/init", program=True)
    with tempfile.TemporaryDirectory(prefix="lab-v2-") as folder:
        compiled = Path(folder) / "code.pyc"
        for path in _walk(ROOT, NOT_SOURCE, within="__pycache__"):
            archive.copy(path)
            if path.suffix == ".py":
                # Emulated, compiling takes longer than everything else.
                mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
                py_compile.compile(str(path), str(compiled), str(path), invalidation_mode=mode)
                archive.copy(compiled, importlib.util.cache_from_source(str(path)))
        archive.copy(_database(Path(folder) / "var"), DATABASE)
    for program in sorted(PROGRAMS.glob("cpulab-*")):
        archive.copy(program)


def _database(var: Path) -> Path:
    """A new one with all its tables."""
    act = "import django; django.setup(); from labsite import prepare; prepare.migrate()"
    settings = {"DJANGO_SETTINGS_MODULE": "labsite.settings", "THROTTLE_LAB_VAR": str(var)}
    subprocess.run(
        [sys.executable, "-c", act],
        cwd=ROOT,
        env={"PATH": os.defpath, **settings},
        check=True,
        timeout=120,
    )
    return var / "lab.sqlite3"


def _python(archive: Archive) -> Path:
    """The interpreter behind the virtual environment and its standard library."""
    real = Path(sys.executable).resolve()
    archive.copy(real)
    library = Path(sysconfig.get_path("stdlib"))
    for path in _walk(library, OTHER_LIBRARY):
        archive.copy(path)
    for link in (Path(sys.prefix) / "bin").glob("python*"):
        # By way of another link it may lead through a directory that is not on the machine.
        archive.link(str(link), str(real))
    archive.copy(Path(sys.prefix) / "pyvenv.cfg")
    home = re.search(r"^home *= *(.+)$", (Path(sys.prefix) / "pyvenv.cfg").read_text(), re.M)
    if home and Path(home[1]) != real.parent:
        archive.link(f"{home[1]}/{real.name}", str(real))
    return real


def _packages(archive: Archive) -> Iterator[Path]:
    """Copies them; yields what is linked against libraries of this machine."""
    for folder in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        for path in _walk(Path(folder), OTHER_PACKAGES):
            archive.copy(path)
            if ".so" in path.suffixes:
                yield path
    yield from (Path(sysconfig.get_path("stdlib")) / "lib-dynload").glob("*.so")


def _walk(top: Path, but: re.Pattern[str], *, within: str = "") -> Iterator[Path]:
    """The files below; `but`: names at the top that are left out, `within`: a folder anywhere."""
    for folder, folders, files in os.walk(top):
        if Path(folder) == top:
            folders[:] = [name for name in folders if not but.match(name)]
            files = [name for name in files if not but.match(name)]
        if Path(folder).name == "locale":
            folders[:] = [name for name in folders if name == "en"]  # of Django's languages
        folders[:] = sorted(name for name in folders if name != within)
        yield from (Path(folder) / name for name in sorted(files) if ".opt-" not in name)


def _libraries(files: list[Path]) -> list[Path]:
    """Shared libraries outside the virtual environment, with the loader, by ldd."""
    done = subprocess.run(
        ["ldd", *map(str, files)], capture_output=True, text=True, check=False, timeout=120
    )
    named = re.findall(r"(?:=>)?\s(/\S+) \(0x", done.stdout)
    return sorted({Path(name) for name in named if not name.startswith(sys.prefix)})
