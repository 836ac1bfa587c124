"""Keras runs on torch here, whatever else is installed."""

from __future__ import annotations

import os

os.environ["KERAS_BACKEND"] = "torch"
