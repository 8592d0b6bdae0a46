"""separatrix for benchopt's benchmark of linear SVMs without an intercept: copy this file into its folder ``solvers``.

The problem is that of `MaxMargin(loss="hinge", fit_intercept=False)`: |w|^2/2 + C sum max(0, 1 - y x.w). benchopt asks
for ever smaller tolerances. Its default takes equal answers to two of them for the end, so the patience is larger.
"""

from benchopt import BaseSolver
from benchopt.stopping_criterion import SufficientProgressCriterion


class Solver(BaseSolver):
    name = "separatrix"
    sampling_strategy = "tolerance"
    stopping_criterion = SufficientProgressCriterion(eps=1e-10, patience=10, strategy="tolerance")
    requirements = ["separatrix"]

    def set_objective(self, X, y, C):
        from separatrix import MaxMargin

        self.X, self.y = X, y
        self.model = MaxMargin(C=C, loss="hinge", fit_intercept=False)
        self.model.fit(X, y)  # compiles

    def run(self, tol):
        self.model.set_params(tol=max(min(tol, 0.1), 1e-12)).fit(self.X, self.y)

    def get_result(self):
        return {"beta": self.model.coef_.ravel()}
