"""What the command line, the report or a page does, without printing: tables and options in, values out.

``tell(stage, share, note)`` is called with how far a stage is; None stands for nobody who listens.
"""

from separatrix.app.workflows.checking import check
from separatrix.app.workflows.comparing import compare
from separatrix.app.workflows.fitting import fit
from separatrix.app.workflows.options import Options
from separatrix.app.workflows.predicting import predict, score
from separatrix.app.workflows.verifying import verify

__all__ = ["Options", "check", "compare", "fit", "predict", "score", "verify"]
