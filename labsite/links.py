"""One-time sign-in links: signed when they are made, written down when they are used.

Making one needs no database, so `./lab up` can print it while the pages are still starting;
that it works only once is decided where it is used, by the row that the use leaves.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import time

LIFETIME_SECONDS = 12 * 3600
_NONCE, _STAMP, _SIGNATURE = 12, 8, 18
_PURPOSE = b"throttle-lab sign-in link"


def make_token(key: str, *, now: float | None = None) -> str:
    """A fresh token: random bytes and the time, signed with the lab's secret key."""
    stamp = int(now if now is not None else time.time()).to_bytes(_STAMP)
    body = secrets.token_bytes(_NONCE) + stamp
    return base64.urlsafe_b64encode(body + _sign(key, body)).decode().rstrip("=")


def check_token(key: str, token: str, *, now: float | None = None) -> str | None:
    """A digest to write the use down by; None where the token is forged or too old."""
    try:
        raw = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
    except ValueError:
        return None
    body, signature = raw[: _NONCE + _STAMP], raw[_NONCE + _STAMP :]
    if len(body) != _NONCE + _STAMP or not hmac.compare_digest(signature, _sign(key, body)):
        return None
    age = (now if now is not None else time.time()) - int.from_bytes(body[_NONCE:])
    # A little into the future is a clock that was set back, not a forgery.
    if not -300 <= age <= LIFETIME_SECONDS:
        return None
    # Of the decoded bytes: one token has more than one spelling in base64.
    return hashlib.sha256(body).hexdigest()


def _sign(key: str, body: bytes) -> bytes:
    return hmac.digest(key.encode(), _PURPOSE + body, "sha256")[:_SIGNATURE]
