"""File systems: local disks and object stores, and their errors."""
