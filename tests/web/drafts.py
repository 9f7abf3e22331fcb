"""What the tests of own experiments send, and read of the pages."""

from __future__ import annotations

import html
import json
import re
from typing import Any

from django.test import Client

from experiments_app.core.spec import Spec, dump_spec


def data(answer: Any) -> dict[str, Any]:
    """What the page hands to its script."""
    text = re.search(
        r'id="own-data" type="application/json">(.*?)</script>', answer.content.decode()
    )
    assert text is not None
    found: dict[str, Any] = json.loads(html.unescape(text[1]))
    return found


def check(client: Client, **draft: Any) -> dict[str, Any]:
    answer = client.post("/own/check/", json.dumps(draft), content_type="application/json")
    assert answer.status_code == 200
    found: dict[str, Any] = answer.json()
    return found


def form(spec: Spec | dict[str, Any], **more: Any) -> dict[str, Any]:
    raw = dump_spec(spec) if isinstance(spec, Spec) else spec
    return {"how": "form", "spec": json.dumps(raw), "editing": "", "based_on": 0, **more}


def file(text: str, **more: Any) -> dict[str, Any]:
    return {"how": "file", "toml": text, "editing": "", "based_on": 0, **more}
