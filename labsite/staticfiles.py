"""Static files: hashed names for a year's caching, module imports rewritten, Plotly's one file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import plotly
from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage
from whitenoise.storage import CompressedManifestStaticFilesStorage

PLOTLY_NAME = "vendor/plotly.min.js"


class ModuleStorage(CompressedManifestStaticFilesStorage):
    """Hashed and compressed; `import` lines in modules get the hashed names too."""

    support_js_module_import_aggregation = True


class PlotlyFinder(BaseFinder):
    """Offers plotly.min.js out of the installed plotly package, and nothing else of it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self.folder = Path(plotly.__file__).parent / "package_data"
        self.storage = FileSystemStorage(location=self.folder)

    def check(self, **kwargs: Any) -> list[Any]:
        return []

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        if path != PLOTLY_NAME:
            return []
        found = str(self.folder / "plotly.min.js")
        return [found] if find_all else found

    def list(self, ignore_patterns: Any) -> Iterator[tuple[str, FileSystemStorage]]:
        self.storage.prefix = "vendor"  # type: ignore[attr-defined]
        yield "plotly.min.js", self.storage
