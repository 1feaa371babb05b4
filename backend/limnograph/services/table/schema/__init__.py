"""The schema page of a table: versions, differences, field trees."""
