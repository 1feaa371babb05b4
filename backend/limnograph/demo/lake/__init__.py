"""The observed lake of the demo, made by real writers."""
