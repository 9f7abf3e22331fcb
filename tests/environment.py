"""Loaded before Django: tests have a var folder of their own and no configuration but theirs."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

if "THROTTLE_LAB_TEST_VAR" in os.environ:
    VAR = os.environ.pop("THROTTLE_LAB_TEST_VAR")
else:
    # Short: a Unix socket's path has room for about a hundred bytes.
    VAR = tempfile.mkdtemp(prefix="lab-test-")
    atexit.register(shutil.rmtree, VAR, ignore_errors=True)

for name in [name for name in os.environ if name.startswith("THROTTLE_LAB_")]:
    del os.environ[name]
os.environ.pop("REDIS_URL", None)
os.environ["THROTTLE_LAB_VAR"] = VAR
