"""Layouts: keys to names of directories, and back."""
