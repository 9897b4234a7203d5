"""What is known about making kernels fast: packs of Markdown notes, how they are found, and what runs add to them."""
