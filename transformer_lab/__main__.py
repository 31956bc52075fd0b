"""Run the command line with `python -m transformer_lab`."""

import sys

from transformer_lab.command.main import main

if __name__ == "__main__":
    sys.exit(main())
