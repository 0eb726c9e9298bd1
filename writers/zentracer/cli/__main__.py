"""`python -m zentracer.cli`, where the command is not on the path."""

import sys

from zentracer.cli import main

if __name__ == "__main__":
    sys.exit(main())
