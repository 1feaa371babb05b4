"""The watcher: probes catalogs for tables that moved."""
