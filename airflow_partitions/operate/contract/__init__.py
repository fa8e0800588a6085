"""What one may ask and have done: of each operation what it takes, what it answers, where it is, and whom it is for.

REST, the command line, the OpenAPI document and the types of the view follow from these. A bound stands here, or comes
from the domain; what is answered has none, so that what was once accepted can always be shown.
"""
