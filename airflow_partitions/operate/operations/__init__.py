"""What a person or a program may ask and have done: a function for each, from plain values to its JSON form.

REST and the command line stand on these. An answer that may be long comes in pages: it has the ``cursor`` from which
the next page goes on, ``None`` at the end.
"""
