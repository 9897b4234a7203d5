"""The judge's side of runners: processes, folders, what is said to them, and the memory that is shared with them."""
