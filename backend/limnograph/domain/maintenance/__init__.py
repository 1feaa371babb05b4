"""Maintenance that is executed: states of plans, policies, leases, breakers, and what an action did."""
