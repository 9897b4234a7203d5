"""How far off a result may be, and of what nobody is asked."""
