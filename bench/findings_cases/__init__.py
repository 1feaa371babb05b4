"""Tables with known faults and their look-alikes, to measure how often a finding is right and how often it is missed."""
