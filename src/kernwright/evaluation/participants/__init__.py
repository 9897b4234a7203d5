"""The judge's side of runners: their processes, what is said to them, and the memory that is shared with them."""
