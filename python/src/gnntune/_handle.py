"""Handles of the library, and who ends them."""

from gnntune._native import Handle

__all__ = ["Handle"]
