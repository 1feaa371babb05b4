"""The observed tables in memory: the hot index, histories, names and the watermark."""
