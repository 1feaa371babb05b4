"""The branches and tags page of a table."""
