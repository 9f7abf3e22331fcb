"""Makes what `labsite.stamps` finds missing: tables and static files."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def migrate() -> None:
    """Bring the database up to date; one process at a time."""
    from django.conf import settings
    from django.core.management import call_command

    from labsite import stamps

    if stamps.database_ready(settings.ENV):
        return
    with stamps.alone(settings.ENV, "migrate"):
        call_command("migrate", verbosity=0, interactive=False)
        (settings.ENV.var / "migrated").write_text(stamps.database_stamp(settings.ENV))


def collect() -> None:
    """Hash and compress the static files."""
    from django.conf import settings
    from django.core.management import call_command

    from labsite import stamps

    with stamps.alone(settings.ENV, "collect"):
        if stamps.static_ready(settings.ENV):
            return
        call_command("collectstatic", verbosity=0, interactive=False, clear=True)
        (Path(settings.STATIC_ROOT) / ".collected").write_text(stamps.static_stamp())


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "labsite.settings")
    import django
    from django.db import Error as DatabaseError

    django.setup()
    try:
        migrate()
    except DatabaseError as error:
        print(f"lab: the database cannot be prepared: {error}", file=sys.stderr)
        print("     See DATABASE_URL; without it the lab keeps SQLite in var/.", file=sys.stderr)
        return 1
    collect()
    return 0


if __name__ == "__main__":
    sys.exit(main())
