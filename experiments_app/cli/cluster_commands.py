"""./lab cluster up, status, down: kind clusters of the lab's own."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import typer
from django.conf import settings
from rich.console import Console
from rich.markup import escape

from experiments_app.cli import common
from experiments_app.core.errors import Stopped
from experiments_app.targets.kubernetes import kind
from experiments_app.targets.kubernetes.kind_cli import CURRENT, OLD
from experiments_app.targets.kubernetes.look import ClusterStatus
from experiments_app.targets.kubernetes.place import NAME, OLD_NAME, Place
from labsite.env import ROOT

INTERRUPTED = 130

Old = Annotated[
    bool, typer.Option("--old", help="the second cluster, whose runtime makes weights as before")
]
Name = Annotated[
    str | None, typer.Option("--name", help=f"another cluster of the lab's: {NAME}-SOMETHING")
]
KindProgram = Annotated[
    Path | None,
    typer.Option("--kind", envvar="THROTTLE_LAB_KIND", help="the kind program to use"),
]
Json = Annotated[bool, typer.Option("--json")]


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        help="kind clusters to run on: two nodes, the lab's images, a kubeconfig in var/.",
        no_args_is_help=True,
    )
    group.command("up")(up)
    group.command("status")(status)
    group.command("down")(down)
    app.add_typer(group, name="cluster")


def up(
    old: Old = False,
    image: Annotated[
        str | None, typer.Option("--image", help="another node image, which may be local")
    ] = None,
    name: Name = None,
    kind_: KindProgram = None,
    json_: Json = False,
) -> int:
    """Make the cluster, or see that it is there and ready. Ctrl-C takes away what was begun."""
    chosen = _name(name, old)
    with _stoppable() as stop:
        try:
            found = kind.up(
                _place(kind_),
                chosen,
                release=OLD if old or chosen == OLD_NAME else CURRENT,
                image=image,
                stop=stop,
                say=common.say,
            )
        except Stopped as stopped:
            common.say(f"lab: {stopped.message}")
            return INTERRUPTED
    _show(found, json_)
    return 0


def status(old: Old = False, name: Name = None, json_: Json = False) -> int:
    """What there is of the cluster; the exit status is 0 when it is ready."""
    found = kind.status(_place(None), _name(name, old))
    _show(found, json_)
    return 0 if found.ready else 1


def down(
    old: Old = False, name: Name = None, kind_: KindProgram = None, json_: Json = False
) -> int:
    """Remove the cluster and its entry in the lab's kubeconfig; fine where there is none."""
    chosen = _name(name, old)
    with _stoppable() as stop:
        try:
            there = kind.down(_place(kind_), chosen, stop=stop, say=common.say)
        except Stopped as stopped:
            common.say(f"lab: {stopped.message}")
            return INTERRUPTED
    if json_:
        common.print_json({"name": chosen, "removed": there})
    else:
        print(f"{chosen} is removed." if there else f"There is no cluster {chosen}.")
    return 0


def _name(name: str | None, old: bool) -> str:
    return name or (OLD_NAME if old else NAME)


def _place(program: Path | None) -> Place:
    folder = settings.ENV.cpulab_dir
    return Place(
        var=settings.ENV.var.resolve(),
        root=ROOT,
        builds={build: folder / f"cpulab-{build}" for build in ("go1.24", "go1.25")},
        kind=program,
    )


@contextmanager
def _stoppable() -> Iterator[threading.Event]:
    """An event that the signals which end a command set; what it began is then taken away."""
    stop = threading.Event()

    def ask_to_stop(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, ask_to_stop) for number in numbers}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _document(found: ClusterStatus) -> dict[str, Any]:
    return {**asdict(found), "exists": found.exists, "ready": found.ready}


def _show(found: ClusterStatus, json_: bool) -> None:
    if json_:
        common.print_json(_document(found))
        return
    console = Console()
    mark = "[green]ready[/green]" if found.ready else "[red]not ready[/red]"
    console.print(f"cluster [bold]{found.name}[/bold]: {mark}", highlight=False)
    if found.problem:
        console.print(f"  {escape(found.problem)}\n    {escape(found.remedy)}", highlight=False)
    if not found.exists:
        return
    console.print(f"  context {found.context} in {escape(found.kubeconfig)}", highlight=False)
    console.print(f"  node image {escape(found.image or 'unknown')}", highlight=False)
    for node in found.nodes:
        state = "ready" if node.ready else "not ready" if node.running else "stopped"
        facts = ", ".join(filter(None, (state, node.kubelet, node.runtime, node.kernel)))
        images = "cpulab's images" if node.images else "no images of cpulab"
        console.print(f"  {node.name}: {facts}, {images}", highlight=False, soft_wrap=True)
