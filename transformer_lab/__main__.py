"""`python -m transformer_lab`."""

import sys

from transformer_lab.cli import main

if __name__ == "__main__":
    sys.exit(main())
