"""Storage of observed tables, whatever their format: files and listings, and which locations a table may name."""
