"""Search for what a text names, over the whole fleet."""
