"""Build the site, or say what is missing and end with 1."""

import sys

from docs.build import main

sys.exit(main())
