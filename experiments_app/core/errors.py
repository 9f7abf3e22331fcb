"""Errors that a person reads: what happened, where, and what to do about it."""

from __future__ import annotations


class LabError(Exception):
    """A failure with a remedy.

    `code` is stable and machine-readable (kebab-case), `message` says what happened and
    where, `remedy` says what the reader can do; it may be empty when nothing can be done.
    """

    code = "lab-error"

    def __init__(self, message: str, *, remedy: str = "", code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        if code is not None:
            self.code = code

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()


class SpecError(LabError):
    """The experiment's text is wrong: names the field, the value and the way out.

    `field` is where a person finds it, `loc` the same as keys and indices from the top.
    """

    code = "bad-spec"

    def __init__(
        self, message: str, *, field: str = "", remedy: str = "", loc: tuple[int | str, ...] = ()
    ) -> None:
        super().__init__(message, remedy=remedy)
        self.field = field
        self.loc = loc


class PlanError(LabError):
    """The experiment is sound, but cannot be run as asked on this target."""

    code = "bad-plan"


class TargetError(LabError):
    """The target could not do what was asked; ends the repeat with this reason."""

    code = "target-failed"


class ReadbackMismatch(TargetError):
    """The kernel has something else than the arm asked for."""

    code = "readback-mismatch"


class Stopped(LabError):
    """The run was told to stop (cancel, shutdown, lost lease); not a failure of the arm."""

    code = "stopped"
