"""Entry point: `python -m experiments_app.cli`, called by ./lab."""

from __future__ import annotations

import os
import sys

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "labsite.settings")


def main() -> int:
    if sys.argv[1:2] == ["up"]:
        # The one command whose start is waited for: it does without Django.
        from labsite.up import main as up

        return up(sys.argv[2:])
    import django

    django.setup()
    from experiments_app.cli.app import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
