"""Avro container files, as specified by Apache Avro. Knows nothing of Iceberg or Hudi."""
