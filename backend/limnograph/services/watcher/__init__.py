"""The watcher: catalogs probed for moved tables."""
