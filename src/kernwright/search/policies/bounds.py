"""What the settings of policies may be: whoever reads a method or a command line holds them to their annotations."""

import math
from typing import Annotated

from annotated_types import Ge, Gt, Le, Lt

Count = Annotated[int, Ge(1)]
Number = Annotated[int, Ge(0)]
Share = Annotated[float, Ge(0), Le(1)]
Positive = Annotated[float, Gt(0), Lt(math.inf)]
Weight = Annotated[float, Ge(0), Lt(math.inf)]
