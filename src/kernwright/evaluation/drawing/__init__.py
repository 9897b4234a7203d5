"""What all draws of a problem's generator have in common, and what values may be made up beside them."""
