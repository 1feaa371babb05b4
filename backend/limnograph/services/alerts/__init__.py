"""Alerts: received, stored, linked to tables and shown as incidents."""
