"""Which bytes the retained snapshots of a table hold, from all of its manifests."""
