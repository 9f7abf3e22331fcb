"""What the workload program is told to do, for every kind of work."""

from __future__ import annotations

from dataclasses import dataclass

from experiments_app.core.timing import START_CPU_US
from experiments_app.core.workloads import (
    REPORT_US,
    Burst,
    Info,
    Load,
    Parallel,
    Requests,
    Serve,
    Spin,
    Tasks,
    Workload,
)

_STEPS_PER_US = 200  # xorshift steps on a slow CPU
_BYTES_PER_US = 100  # filling memory the slow way: page by page, linked for the collector
_LONGEST_NAME = 63
_LISTEN = "127.0.0.1:0"


@dataclass(frozen=True, slots=True)
class Command:
    """cpulab's arguments, the CPU of one step and the time between two lines, both in us.

    From the last two follows how long the program may stay silent. `serves`: it listens, and
    says where; `calls`: the group that it calls, whose addresses its arguments lack; `holds`:
    its work is done with its first line, it only stays.
    """

    arguments: tuple[str, ...]
    cpu_us: int = 0
    pause_us: int = 0
    serves: bool = False
    calls: str | None = None
    holds: bool = False

    def with_addresses(self, addresses: tuple[str, ...]) -> tuple[str, ...]:
        """The arguments of a program that calls `addresses` (HOST:PORT)."""
        if self.calls is None:
            return self.arguments
        name, *rest = self.arguments
        return (name, "--to", ",".join(f"http://{address}" for address in addresses), *rest)


def command_of(work: Workload, name: str) -> Command:
    """The command of a workload; `name` is what a server calls itself in its answers."""
    match work:
        case Burst() | Tasks() | Parallel():
            return _job(work)
        case Spin() | Requests() | Info():
            return _steady(work)
        case Serve():
            flags = {
                "listen": _LISTEN,
                "name": name[-_LONGEST_NAME:].lstrip(".-"),
                "work": us(work.work_us),
            }
            flags |= {"alloc": str(work.alloc_bytes), "live": str(work.live_bytes)}
            cpu_us = work.work_us + work.live_bytes // _BYTES_PER_US
            return Command(_words("serve", flags), cpu_us, REPORT_US, serves=True)
        case Load():
            return _load(work)


def _job(work: Burst | Tasks | Parallel) -> Command:
    match work:
        case Burst():
            flags = {"threads": str(work.threads), "work": us(work.work_us)}
            flags |= {"interval": us(work.interval_us), "rounds": str(work.rounds)}
            flags |= {"jitter": us(work.jitter_us)}
            pause_us = work.interval_us + work.jitter_us
            return Command(_words("burst", flags), work.round_cpu_us, pause_us)
        case Tasks():
            flags = {"work": us(work.work_us), "count": str(work.count), "gap": us(work.gap_us)}
            return Command(_words("tasks", flags), work.work_us, work.gap_us)
        case Parallel():
            flags = {"processes": str(work.processes), "work": us(work.work_us)}
            flags |= {"rounds": str(work.rounds), "gap": us(work.gap_us)}
            cpu_us = work.round_cpu_us + work.processes * START_CPU_US
            return Command(_words("parallel", flags), cpu_us, work.gap_us)


def _steady(work: Spin | Requests | Info) -> Command:
    match work:
        case Spin():
            flags = {"threads": str(work.threads)}
            if work.ends:
                flags["for"] = us(work.duration_us)
            flags["report"] = us(work.report_us)
            return Command(_words("spin", flags), 0, work.report_us)
        case Requests():
            flags = {"threads": str(work.threads), "steps": str(work.steps)}
            flags["for"] = us(work.duration_us)
            cpu_us = work.threads * work.steps // _STEPS_PER_US
            return Command(_words("requests", flags), cpu_us, REPORT_US)
        case Info():
            held = ("--hold", "--until-eof") if work.hold else ()
            return Command(("info", *held), holds=work.hold)


def _load(work: Load) -> Command:
    flags = {
        "rate": str(work.rate),
        "ping-rate": str(work.ping_rate),
        "arrivals": work.arrivals,
        "clump": str(work.clump),
        "warmup": us(work.warmup_us),
        "for": us(work.duration_us),
        "timeout": us(work.timeout_us),
        "connections": work.connections,
        "idle": str(work.idle),
    }
    # Silent while it warms up and drains; later a second's line may wait for its last answer.
    pause_us = work.warmup_us + work.timeout_us + 2 * REPORT_US
    return Command(_words("load", flags), 0, pause_us, calls=work.to)


def us(value: int) -> str:
    """A duration as cpulab reads it, in whole microseconds."""
    return f"{value}us"


def _words(name: str, flags: dict[str, str]) -> tuple[str, ...]:
    words = [word for flag, value in flags.items() for word in (f"--{flag}", value)]
    return (name, *words, "--until-eof")
