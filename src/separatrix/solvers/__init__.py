"""The certified optimum: solvers that see data in passes, and stop on a certificate computed outside of them."""
