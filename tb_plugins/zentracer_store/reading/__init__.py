"""Turns the bytes of an event file into records, and records into values."""
