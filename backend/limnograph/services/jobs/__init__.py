"""Job runs: which jobs read or write a table, their runs, lanes and signals."""
