"""Builds `limnograph maintain`: the executor over writable catalogs. Nothing of it is part of the server."""
