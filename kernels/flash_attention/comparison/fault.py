"""The one error that a user is meant to read."""


class Fault(Exception):
    """One line: what is wrong, and what would be right."""
