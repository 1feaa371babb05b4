"""How well the bounds of effects cover: laws with a known truth, scores, report (`make bench-effects`)."""
