"""What commits and maintenance operations did to jobs: measured, recorded in the ledger, and shown."""
