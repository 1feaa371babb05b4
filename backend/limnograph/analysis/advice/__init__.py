"""Rules that lead to recommendations, the planner, estimates and generated statements. Pure."""
