"""Exceptions of the package. Each message says what to do next."""


class Error(Exception):
    """Base class of all exceptions of this package except `OSError` and `MemoryError`."""


class InvalidArgument(Error, ValueError):
    """An argument is invalid."""


class InvalidType(Error, TypeError):
    """An array has an unsupported type, or an argument has the wrong type."""


class UnsupportedError(Error):
    """A valid request that this codec, build or machine does not support."""


class CorruptError(Error, ValueError):
    """The bytes are not a valid stream."""


class TruncatedError(CorruptError):
    """The stream ends too early."""


class LimitError(Error):
    """The stream needs more memory than the caller allows."""
