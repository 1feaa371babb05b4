"""Avro container files, as the specification has them. Knows nothing of Iceberg or Hudi."""
