"""The page of branches and tags of a table."""
