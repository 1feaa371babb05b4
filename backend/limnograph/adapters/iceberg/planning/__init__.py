"""The current files of a table, grouped and planned as the rules of advice need them."""
