"""``python -m fieldcheck``."""

from __future__ import annotations

from fieldcheck.cli import main

if __name__ == "__main__":
    main()
