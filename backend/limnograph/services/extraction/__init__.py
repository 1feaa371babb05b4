"""One table read: new snapshots into facts, and `inspect`."""
