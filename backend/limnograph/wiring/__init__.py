"""Composition roots: the only files that name settings, services and adapters together. One file a program."""
