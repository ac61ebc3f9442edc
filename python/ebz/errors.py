"""What can go wrong, as exceptions. Each message says what to do next."""


class Error(Exception):
    """Every error of this package is one of these, but for `OSError` and `MemoryError`."""


class InvalidArgument(Error, ValueError):
    """The caller asked for something that makes no sense."""


class InvalidType(Error, TypeError):
    """An array is of a type that is not compressed, or an argument is of the wrong type."""


class UnsupportedError(Error):
    """The request is sensible, but not available here."""


class CorruptError(Error, ValueError):
    """The bytes are not what a writer of this format produces."""


class TruncatedError(CorruptError):
    """The bytes end too early."""


class LimitError(Error):
    """The stream asks for more memory than the caller allows."""
