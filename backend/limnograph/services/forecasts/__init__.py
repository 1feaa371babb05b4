"""Which tables will cross a threshold: the step that forecasts, what came of it, and the pages."""
