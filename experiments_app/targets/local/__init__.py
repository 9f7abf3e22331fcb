"""The machine's own cgroups, v1 or v2, as root or in what is delegated to us."""

from experiments_app.targets.local.target import LocalTarget, machine_name

__all__ = ["LocalTarget", "machine_name"]
