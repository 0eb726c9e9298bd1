"""Answers what a picture asks, at any zoom."""
