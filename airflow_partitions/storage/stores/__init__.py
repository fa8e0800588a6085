"""What a dataset holds, by folders on a local disk or by a log of commits."""
