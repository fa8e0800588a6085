"""How partitions are consumed step by step, each once."""
