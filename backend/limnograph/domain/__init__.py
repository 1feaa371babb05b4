"""Pure values: no I/O, no clock, no framework. Every other package may import this one; it imports none of them."""
