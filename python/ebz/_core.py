"""The extension module, which lies in the folder of plugins: HDF5 loads the same library."""

import sys

from .plugins import libebz

sys.modules[__name__] = libebz
