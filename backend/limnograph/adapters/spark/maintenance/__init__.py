"""Executes maintenance of Iceberg tables by Iceberg's Actions API in the JVM of a Spark session (ADR 51)."""
