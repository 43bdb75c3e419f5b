"""Write, run and read tuning sweeps of fa-coord (docs/python.md).

Everything comes from the program fa-coord, which must be in PATH, or named by
the environment variable FA_COORD.  Times are seconds.  pandas is needed for
data frames and matplotlib for plots, and nothing else.
"""

from .database import Database
from .program import ProgramError
from .run import Run
from .sweep import Sweep

__all__ = ["Database", "ProgramError", "Run", "Sweep"]
