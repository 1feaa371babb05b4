"""Decisions on plans, from the command line."""
