"""Apache Hudi: the timeline and its commits, read without Hudi's libraries (ADR 0013). Table versions 0 to 10."""
