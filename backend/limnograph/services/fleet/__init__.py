"""The fleet page: rows, order, growth, reasons, heat map, and gauges of every table."""
