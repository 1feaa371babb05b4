"""Maintenance: the statements that Limnograph recommends."""
