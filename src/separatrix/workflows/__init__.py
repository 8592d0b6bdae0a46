"""What the command line, the report or a page does, without printing: tables and options in, values out.

``tell(stage, share, note)`` is called with how far a stage is; None stands for nobody who listens.
"""

from separatrix.workflows.asked import Options
from separatrix.workflows.checking import check
from separatrix.workflows.comparing import compare
from separatrix.workflows.fitting import fit
from separatrix.workflows.predicting import predict, score
from separatrix.workflows.verifying import verify

__all__ = ["Options", "check", "compare", "fit", "predict", "score", "verify"]
