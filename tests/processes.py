"""Scripts in processes of their own."""

import json
import os
import subprocess
import sys
import textwrap

HEAD = """
    import gc, json, sys, warnings
    import numpy as np
    import scipy.sparse as sp

    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = (X @ [1.0, -2.0, 0.5, 1.0] + 0.3 > 0).astype(int)

    def kernels():
        "Cache hits and misses of all kernels of this process."
        from numba.core.dispatcher import Dispatcher
        ours = [d for d in gc.get_objects() if isinstance(d, Dispatcher)]
        ours = [d for d in ours if d.py_func.__module__.startswith("separatrix")]
        return [sum(sum(getattr(d.stats, kind).values()) for d in ours) for kind in ("cache_hits", "cache_misses")]
"""


def run(script, *arguments, path=None, **environment):
    """Run a script in a process of its own; returns the JSON that it printed last."""
    script = textwrap.dedent(HEAD) + textwrap.dedent(script)
    done = subprocess.run(
        [sys.executable, "-B", "-c", script, *arguments] if path is None else [sys.executable, "-B", path],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])
