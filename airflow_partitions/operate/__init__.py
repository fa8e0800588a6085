"""What one may ask and have done: states, requests, corrections, keys, doctor, upkeep; REST and the command line."""
