"""The executor of maintenance: decides by its policy, runs plans under a lease, verifies them from the table."""
