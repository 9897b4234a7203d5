"""Other weights, which results have to follow."""
