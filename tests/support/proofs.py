"""Whether a link to a proof leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def anchors(page: Path) -> set[str]:
    """The headings of a page, as links name them."""
    titles = re.findall(r"^#+ +(.+)$", page.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w]+", "-", title.lower()).strip("-") for title in titles}


def leads_to_a_proof(link: str) -> bool:
    """Whether a page of proofs, and the part of it that a link names, exist."""
    page, _, anchor = link.partition("#")
    path = ROOT / page
    return page.startswith("docs/proofs/") and path.is_file() and (not anchor or anchor in anchors(path))
