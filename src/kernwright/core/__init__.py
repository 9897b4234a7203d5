"""Facts and seams. Standard library only; imports nothing from the rest of Kernwright."""
