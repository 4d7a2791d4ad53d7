"""A ledger's address on its way to another process: its password is sealed, and opens in this run of Python alone.

Estimators carry their account, and pickles of them are kept and passed on. Workers that ``multiprocessing`` or joblib
start here need the password; a file must not hold it. So it goes sealed under the key that each such worker gets from
its parent, which is drawn anew by every run of Python and never written down.
"""

from __future__ import annotations

import hashlib
import hmac
import multiprocessing
import secrets
from urllib.parse import unquote

_NONCE, _TAG = 16, 32
_SECRETS = {"password", "sslpassword", "oauth_client_secret"}


def without_password(url: str) -> str:
    """An address without its secrets; libpq then looks for a password in PGPASSWORD and in ~/.pgpass."""
    if not url.startswith(("postgresql://", "postgres://")):
        return url
    scheme, _, rest = url.partition("://")
    authority, slash, path = rest.partition("/")
    user, at, hosts = authority.rpartition("@")
    place, mark, query = f"{user.partition(':')[0]}{at}{hosts}{slash}{path}".partition("?")
    # libpq reads percent signs in keys, too: pass%77ord is one.
    kept = [pair for pair in query.split("&") if unquote(pair.partition("=")[0]).lower() not in _SECRETS]
    return f"{scheme}://{place}{mark if any(kept) else ''}{'&'.join(kept)}"


def seal(text: str) -> bytes:
    """Seal a text for this family of processes."""
    nonce = secrets.token_bytes(_NONCE)
    body = _mask(text.encode(), nonce)
    return nonce + _tag(nonce + body) + body


def unseal(sealed: bytes) -> str | None:
    """Open what :func:`seal` made; None in a process of another family."""
    nonce, tag, body = sealed[:_NONCE], sealed[_NONCE : _NONCE + _TAG], sealed[_NONCE + _TAG :]
    return _mask(body, nonce).decode() if hmac.compare_digest(tag, _tag(nonce + body)) else None


def _mask(text: bytes, nonce: bytes) -> bytes:
    """Exclusive or with a stream that is used once."""
    stream = hashlib.shake_256(b"tacit mask" + _family_key() + nonce).digest(len(text))
    return bytes(a ^ b for a, b in zip(text, stream, strict=True))


def _tag(text: bytes) -> bytes:
    return hmac.digest(_family_key(), b"tacit tag" + text, "sha256")


def _family_key() -> bytes:
    return hashlib.sha256(bytes(multiprocessing.current_process().authkey)).digest()
