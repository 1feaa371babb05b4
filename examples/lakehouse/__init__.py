"""The reference lakehouse: a small, real one that Limnograph observes (README.md)."""
