"""Static files: hashed names for a year's caching, module imports rewritten, vendored scripts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import django_htmx
import plotly
from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage
from whitenoise.storage import CompressedManifestStaticFilesStorage

HTMX = "django_htmx/htmx-2.min.js"
VENDORED = {
    "vendor/plotly.min.js": Path(plotly.__file__).parent / "package_data" / "plotly.min.js",
    HTMX: Path(django_htmx.__file__).parent / "static" / HTMX,
}


class ModuleStorage(CompressedManifestStaticFilesStorage):
    """Hashed and compressed; `import` lines in modules get the hashed names too."""

    support_js_module_import_aggregation = True
    # A name changes when an imported one does: as many passes as the imports are deep.
    max_post_process_passes = 20


class VendorFinder(BaseFinder):
    """Offers the scripts that come inside Python packages, and nothing else of them.

    Whole folders of those packages hold files that nobody is to be served, and modules
    whose imports lead nowhere.
    """

    def check(self, **_: Any) -> list[Any]:
        return []

    def find(self, path: str, find_all: bool = False, **_: Any) -> Any:
        found = VENDORED.get(path)
        if found is None:
            return []
        return [str(found)] if find_all else str(found)

    def list(self, _ignore_patterns: Any) -> Iterator[tuple[str, FileSystemStorage]]:
        for name, path in VENDORED.items():
            storage = FileSystemStorage(location=path.parent)
            storage.prefix = str(Path(name).parent)  # type: ignore[attr-defined]
            yield path.name, storage
