"""Guards of the hazards H1 to H19 (ADR 51). A guard without its fact does not hold."""
