"""Work that travels: a run's pending jobs as a folder, done where the target is, and brought home into the journal."""
