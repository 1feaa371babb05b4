"""The demo: a real lake, a real story, real parts."""
