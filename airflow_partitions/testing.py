"""Pytest helpers."""
