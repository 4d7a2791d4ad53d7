"""``python -m tacit.cli`` is ``tacit``."""

import sys

from tacit.cli import main

sys.exit(main())
