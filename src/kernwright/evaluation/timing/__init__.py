"""Timed calls: samples, what is changed and compared among them, and what keeps clocks honest that nobody can trust."""
