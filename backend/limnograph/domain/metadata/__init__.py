"""The metadata of one table, in the same terms for every format."""
