"""The current files of a Delta table, grouped and planned as the rules of advice need them."""
