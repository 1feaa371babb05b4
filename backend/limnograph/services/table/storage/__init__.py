"""What a table stores, read from its storage when a page requests it."""
