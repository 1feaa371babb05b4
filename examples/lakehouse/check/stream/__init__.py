"""Scenarios of the form `stream`: each needs Kafka, Debezium and the stream."""
