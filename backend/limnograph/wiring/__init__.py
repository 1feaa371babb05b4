"""Composition roots: the only package that connects settings, services and adapters. One file per program or part of
one.
"""
