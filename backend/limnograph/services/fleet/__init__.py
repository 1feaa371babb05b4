"""The fleet page: rows, order, growth, reasons, heat map, gauges of every table."""
