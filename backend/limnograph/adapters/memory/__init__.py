"""Real adapters that keep everything in memory, held to the contract suites of the ports."""
