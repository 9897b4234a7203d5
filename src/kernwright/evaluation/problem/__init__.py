"""A problem as the judge has it: its own code, what that makes of values, and whether it can be judged at all."""
