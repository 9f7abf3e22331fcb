"""./lab run and ./lab cancel: queue a run and follow it to its end."""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from django.conf import settings
from django.db import connection

from experiments_app.archive.document import document
from experiments_app.cli import common
from experiments_app.cli.follow import LOOK_EVERY, Follower
from experiments_app.cli.own_commands import find_named
from experiments_app.cli.summary_tables import print_summary
from experiments_app.core.errors import LabError
from experiments_app.core.spec import Spec, load_spec
from experiments_app.models import Run, RunStatus
from experiments_app.runs import cancel as cancelling
from experiments_app.runs import wiring
from experiments_app.runs.announce import silent
from experiments_app.runs.launch import Request, launch
from experiments_app.runs.ring import ring
from experiments_app.runs.work import Worker

LARGEST_SPEC = 1_000_000


class BadFile(LabError):
    code = "bad-file"


def register(app: typer.Typer) -> None:
    app.command("run")(run)
    app.command("cancel")(cancel)


def run(
    experiment: Annotated[str, typer.Argument(metavar="NAME|FILE", help="a name or a TOML file")],
    target: Annotated[str, typer.Option("--target", "-t", help="where to run it")],
    repeats: Annotated[int | None, typer.Option(min=1, max=50)] = None,
    arms: Annotated[str, typer.Option(help="only these arms, separated by commas")] = "",
    settings_: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="change a setting")
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="print the run document")] = False,
) -> int:
    """Queue an experiment and follow it; runs it by itself when no lab is up."""
    spec = find_spec(experiment)
    registry = wiring.registry()
    chosen = registry.get(target)
    common.migrate()
    request = Request(
        spec=spec,
        target=chosen,
        repeats=repeats,
        arms=[name.strip() for name in arms.split(",") if name.strip()],
        settings=parse_settings(settings_ or []),
    )
    launched = launch(request, user=None, who=common.person())
    common.say(f"run {launched.number}: {launched.title}, on {chosen.name}")
    if common.lab_is_up():
        ring(launched.machine)
        _follow(launched)
        launched.refresh_from_db()
    if not launched.ended:
        _run_alone(launched)
    launched.refresh_from_db()
    if json_:
        common.print_json(document(launched))
    else:
        print_summary(launched)
    return 0 if launched.status == RunStatus.FINISHED and not launched.failed_repeats else 1


def cancel(run: Annotated[str, typer.Argument(metavar="RUN")]) -> int:
    """Cancel a queued or running run."""
    common.migrate()
    found = common.find_run(run)
    if found.ended:
        common.say(f"run {found.number} has ended already: {found.status}.")
        return 0
    cancelling.cancel(number=found.number, who=common.person())
    while True:
        found.refresh_from_db()
        if found.ended:
            common.say(f"run {found.number}: {found.status}. {found.reason}".strip())
            return 0
        if not common.lab_is_up():
            wiring.tend()
        time.sleep(0.3)


def find_spec(text: str) -> Spec:
    """An experiment of the catalogue or an own one by name, or a spec from a TOML file."""
    looks_like_file = text.endswith(".toml") or "/" in text
    if not looks_like_file:
        return find_named(text)
    return load_file(text)


def load_file(text: str) -> Spec:
    """A spec from a TOML file."""
    path = Path(text)
    try:
        if path.exists() and (not path.is_file() or path.stat().st_size > LARGEST_SPEC):
            raise BadFile(
                f"{text} is no spec: it is not a file, or larger than {LARGEST_SPEC:,} bytes.",
                remedy="./lab experiments burst-limits --toml shows what one looks like.",
            )
        content = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        what = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise BadFile(
            f"{text} cannot be read: {what}.",
            remedy="Name a TOML file, or an experiment of ./lab experiments.",
        ) from None
    return load_spec(content, text)


def parse_settings(pairs: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        if not sign or not key.strip():
            raise common.UsageError(
                f"--set {pair}: this is not KEY=VALUE.", remedy="For example --set rounds=5."
            )
        found[key.strip()] = value.strip()
    return found


def _run_alone(launched: Run) -> None:
    """Be the worker of this one run, in this process."""
    worker = Worker(
        machine=launched.machine,
        registry=wiring.registry(),
        lab=settings.LAB_ID,
        announce=silent,
        lease_seconds=settings.ENV.lease_seconds,
    )
    asked = threading.Event()

    def interrupt(*_: Any) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()
        common.say("stopping … (again to give up waiting)")
        # Through the database, on a thread: the handler may have interrupted a transaction.
        threading.Thread(target=_cancel, args=(launched.number,), daemon=True).start()

    signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGTERM, interrupt)
    told = False
    with Follower(launched.number).in_background():
        while not worker.drain(only=launched.number):
            launched.refresh_from_db()
            if launched.ended:
                break
            if not told:
                common.say("waiting: another run of this machine is under way.")
                told = True
            wiring.reaper().reap()
            asked.wait(0.5)


def _cancel(number: int) -> None:
    try:
        cancelling.cancel(number=number, who=common.person())
    finally:
        connection.close()


def _follow(launched: Run) -> None:
    """Follow a run that the lab's worker runs; Ctrl-C leaves it running.

    Returns early when the lab goes down before it has begun.
    """
    try:
        follower = Follower(launched.number)
        while not follower.look():
            launched.refresh_from_db()
            if launched.status == RunStatus.QUEUED and not common.lab_is_up():
                common.say("the lab has stopped; the run goes on in this command.")
                return
            time.sleep(LOOK_EVERY)
    except KeyboardInterrupt:
        common.say(
            f"\nrun {launched.number} goes on in the lab; "
            f"./lab cancel {launched.number} stops it, ./lab show {launched.number} shows it."
        )
        raise
