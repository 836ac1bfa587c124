"""``python -m fieldcheck``."""

from fieldcheck.cli import main

if __name__ == "__main__":
    main()
