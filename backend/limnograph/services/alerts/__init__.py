"""Alerts: received, kept, linked to tables, shown as incidents."""
