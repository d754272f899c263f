"""`python -m bandstop`."""

import sys

from bandstop.cli import main

sys.exit(main())
