"""The observed lake of the demo, written by PyIceberg and Spark."""
