"""Tables with known faults and their look-alikes, to measure how often findings are right, and how often missed."""
