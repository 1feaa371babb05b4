"""Pages of one table: overview, commits, partitions, schema, refs."""
