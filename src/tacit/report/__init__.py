"""Reports: numbers for a page (``summary``), and the page itself (``html``). Public side: sees releases only."""
