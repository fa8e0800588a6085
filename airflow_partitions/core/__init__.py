"""The core: keys, definitions, dependencies, selections. Pure: no library but attrs, no I/O, no clock."""
