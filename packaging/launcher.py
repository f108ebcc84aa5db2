"""The entry point of the packaged program: what the `haloband` command of an installation runs."""

import sys

from app.cli import main

if __name__ == "__main__":
    sys.exit(main())
