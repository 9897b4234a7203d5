"""What the settings of policies may be: whoever reads a method or a command line holds them to their annotations."""

import math
from typing import Annotated

from annotated_types import Ge, Gt, Le, Lt

MOST = 1_000_000
"""More proposals than any run has; what is counted by them need not go further."""
Count = Annotated[int, Ge(1), Le(MOST)]
Number = Annotated[int, Ge(0), Le(MOST)]
Few = Annotated[int, Ge(1), Le(1_000)]
"""Of what is gone through at each pick."""
Share = Annotated[float, Ge(0), Le(1)]
Positive = Annotated[float, Gt(0), Lt(math.inf)]
Weight = Annotated[float, Ge(0), Lt(math.inf)]
