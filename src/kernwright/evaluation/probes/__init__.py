"""Values that no generator draws, each with the reason why an honest kernel bears them, and when they are asked."""
