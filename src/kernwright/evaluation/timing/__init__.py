"""Samples, and what keeps a clock that nobody can trust honest."""
