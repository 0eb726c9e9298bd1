"""Columns on disk, and the processes that fill them."""
