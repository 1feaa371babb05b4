"""Scenarios: each makes something happen and asserts the data and what Limnograph shows."""
