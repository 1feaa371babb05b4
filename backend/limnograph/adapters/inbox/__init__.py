"""The durable inbox on SQLAlchemy."""
