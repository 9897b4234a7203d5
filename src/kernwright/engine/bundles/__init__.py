"""Evidence bundles: all that a verified speedup rests on in one file, and what can be said of such a file."""
