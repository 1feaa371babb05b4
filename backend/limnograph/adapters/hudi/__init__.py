"""Apache Hudi: the timeline and its commits, read by our own reader (ADR 0013). Table versions 0 to 10."""
