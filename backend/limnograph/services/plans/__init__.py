"""State of maintenance plans: proposals, approvals, cancellations and their history."""
