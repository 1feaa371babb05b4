"""The timeline of a table: one request, all lanes."""
