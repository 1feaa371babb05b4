"""Whether a planned action may run now: policy, guards, breakers. Pure functions of facts."""
