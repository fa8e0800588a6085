"""Statements by which SQL engines see datasets."""
