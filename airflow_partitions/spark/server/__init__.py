"""The listener for servers of Spark Connect, and a server for one machine."""
