"""The paper, run again on public data: its algorithms as written beside sound ones. A guest: nothing imports it."""
