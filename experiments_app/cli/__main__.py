"""Entry point: `python -m experiments_app.cli`, called by ./lab."""

from __future__ import annotations

import os
import sys

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "labsite.settings")


def main() -> None:
    import django

    django.setup()
    from experiments_app.cli.app import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
