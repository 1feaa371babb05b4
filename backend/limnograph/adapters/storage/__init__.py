"""Storage of observed tables of any format: files and listings, and which locations a table may name."""
