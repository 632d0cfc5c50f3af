"""What NumPy and the kernel language call the element types."""

from __future__ import annotations

from ._kp import DTYPES

NUMPY_NAMES = {text: numpy_name for text, numpy_name, _, _ in DTYPES}
LANGUAGE_NAMES = {numpy_name: text for text, numpy_name, _, _ in DTYPES}

__all__ = ["LANGUAGE_NAMES", "NUMPY_NAMES"]
