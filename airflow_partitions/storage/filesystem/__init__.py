"""Where storage lies, and how to get at it: local disks, object stores, and what goes wrong there."""
