"""Other people's solvers behind one call: ``run(X, y, ...) -> (w, b)``, bias augmented by 1 and part of |w|.

A peer that is not installed does not take part. Solvers of another problem (skglm's and LIBSVM's hinge) race only
where the problems coincide: for the hard margin, through a large C.
"""

import functools
import importlib.util
import itertools

import numpy as np
import scipy.sparse as sp

TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
LARGE = (1e4, 1e6, 1e8)  # stand for C = inf
SUBMODULES = {"liblinear": "liblinear.liblinearutil", "libsvm": "libsvm.svmutil", "sklearnex": "sklearnex.svm"}


@functools.cache
def installed(module):
    """Is a peer here? It is imported at once: runs in processes of their own would otherwise count their imports."""
    if importlib.util.find_spec(module) is None:
        return False
    importlib.import_module(SUBMODULES.get(module, module))
    return True


@functools.cache
def official_installed():
    """The same of liblinear-official, which compiles on its first call: in this process, not in each of its runs."""
    if not installed("liblinear"):
        return False
    official_liblinear(sp.eye_array(2, format="csr"), np.array([1, -1]), 1.0, 0.1, 2)
    return True


def _augmented(X):
    return sp.hstack([X, np.ones((X.shape[0], 1))]).tocsr() if sp.issparse(X) else np.column_stack([X, np.ones(len(X))])


def sklearn_liblinear(X, y, C, tol, dual):
    from sklearn.svm import LinearSVC

    model = LinearSVC(C=C, dual=dual, tol=tol, max_iter=100_000).fit(X, y)
    return np.append(model.coef_[0], model.intercept_[0])


def official_liblinear(X, y, C, tol, solver):
    from liblinear.liblinearutil import parameter, problem, train

    X = sp.csr_matrix(X)
    model = train(problem(y, X), parameter(f"-s {solver} -c {C:.17g} -e {tol:g} -B 1 -q"))
    w, b = model.get_decfun()
    return np.append(np.asarray(w)[: X.shape[1]], b)


def snap(X, y, C, tol):
    from snapml import SupportVectorMachine

    model = SupportVectorMachine(
        loss="squared_hinge", regularizer=1.0 / C, fit_intercept=True, tol=tol, max_iter=100_000, n_jobs=1
    ).fit(X, y)
    return np.append(np.ravel(model.coef_), np.ravel(model.intercept_))


def libsvm(X, y, C, tol):
    from sklearn.svm import SVC

    return np.ravel(SVC(C=C, kernel="linear", tol=tol, cache_size=1000).fit(_augmented(X), y).coef_)


def official_libsvm(X, y, C, tol):
    from libsvm.svmutil import svm_parameter, svm_problem, svm_train

    Z = _augmented(X)
    model = svm_train(svm_problem(y, sp.csr_matrix(Z)), svm_parameter(f"-t 0 -c {C:g} -e {tol:g} -m 1000 -q"))
    support = np.array(model.get_sv_indices()) - 1
    w = np.ravel(np.asarray(Z[support].T @ np.array([c[0] for c in model.get_sv_coef()])))
    return w if model.get_labels()[0] == 1 else -w


def intel_svc(X, y, C, tol):
    from sklearnex.svm import SVC

    return np.ravel(SVC(C=C, kernel="linear", tol=tol, cache_size=1000).fit(_augmented(X), y).coef_)


def skglm_svc(X, y, C, tol):
    from skglm import LinearSVC

    return np.ravel(LinearSVC(C=C, tol=tol, max_iter=1000).fit(_augmented(X), y).coef_)


def quadratic_program(X, y, solver):
    import qpsolvers

    Y = -y[:, None] * _augmented(X)
    d = Y.shape[1]
    return qpsolvers.solve_qp(np.eye(d), np.zeros(d), Y, -np.ones(len(Y)), solver=solver)


def linear_program(X, y):
    """HiGHS on the program of separability: it finds a hyperplane, not the best one; None where there is none."""
    from scipy.optimize import linprog

    Y = _augmented(X)
    Y = sp.csr_matrix(Y.multiply(-y[:, None])) if sp.issparse(Y) else -y[:, None] * Y
    return linprog(np.zeros(Y.shape[1]), A_ub=Y, b_ub=-np.ones(Y.shape[0]), bounds=(None, None), method="highs").x


def logistic(X, y):
    """Logistic regression without a penalty: separable exactly where it can drive all errors out."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=np.inf, max_iter=1000).fit(X, y)
    return np.append(model.coef_[0], model.intercept_[0])


def discriminant(X, y):
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    model = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    return np.append(model.coef_[0], model.intercept_[0])


def soft_margin(X, y, C):
    """Peers of the 2-norm soft margin: name to runs at falling tolerances."""
    runs = {
        "LinearSVC primal": [functools.partial(sklearn_liblinear, X, y, C, tol, False) for tol in TOLERANCES],
        "LinearSVC dual": [functools.partial(sklearn_liblinear, X, y, C, tol, True) for tol in TOLERANCES],
    }
    if official_installed():
        runs["liblinear-official primal"] = [functools.partial(official_liblinear, X, y, C, t, 2) for t in TOLERANCES]
        runs["liblinear-official dual"] = [functools.partial(official_liblinear, X, y, C, t, 1) for t in TOLERANCES]
    if installed("snapml"):
        runs["snapml"] = [functools.partial(snap, X, y, C, tol) for tol in (1e-1, 1e-2, 1e-3, 1e-4, 1e-6)]
    return runs


def hinge_liblinear(X, y, C, tol):
    from sklearn.svm import LinearSVC

    model = LinearSVC(C=C, loss="hinge", tol=tol, max_iter=100_000).fit(X, y)
    return np.append(model.coef_[0], model.intercept_[0])


def hinge(X, y, C):
    """Peers of the 1-norm soft margin; LIBSVM only where rows are few and dense."""
    runs = {"LinearSVC": [functools.partial(hinge_liblinear, X, y, C, tol) for tol in TOLERANCES]}
    if official_installed():
        runs["liblinear-official"] = [functools.partial(official_liblinear, X, y, C, t, 3) for t in TOLERANCES]
    if X.shape[0] <= 20_000 and not sp.issparse(X):
        runs["SVC"] = [functools.partial(libsvm, X, y, C, tol) for tol in TOLERANCES]
    return runs


def kernel_svc(X, y, C, gamma, tol, module):
    model = importlib.import_module(module).SVC(C=C, gamma=gamma, tol=tol, cache_size=500).fit(X, y)
    return model.support_, model.dual_coef_[0], model.intercept_[0]


def kernel_hinge(X, y, C, gamma):
    """Peers of the 1-norm soft margin with a Gaussian kernel and an unpenalized intercept."""
    modules = {"SVC": "sklearn.svm", "scikit-learn-intelex SVC": "sklearnex.svm"}
    return {
        name: [functools.partial(kernel_svc, X, y, C, gamma, tol, module) for tol in TOLERANCES]
        for name, module in modules.items()
        if installed(module.split(".")[0])
    }


def hard_margin(X, y):
    """Peers of the hard margin: general solvers, and soft margins with a large C."""
    settings = list(itertools.product(LARGE, (1e-2, 1e-4)))
    runs = {
        name: [functools.partial(quadratic_program, X, y, name)]
        for name in ("quadprog", "daqp", "piqp", "clarabel")
        if installed(name) and installed("qpsolvers") and not sp.issparse(X)
    }
    runs["HiGHS"] = [functools.partial(linear_program, X, y)]
    runs["SVC"] = [functools.partial(libsvm, X, y, C, tol) for C, tol in settings]
    runs["LinearSVC primal"] = [functools.partial(sklearn_liblinear, X, y, C, tol, False) for C, tol in settings]
    runs["LinearSVC dual"] = [functools.partial(sklearn_liblinear, X, y, C, tol, True) for C, tol in settings]
    for name, module, solve in (
        ("libsvm-official", "libsvm", official_libsvm),
        ("scikit-learn-intelex SVC", "sklearnex", intel_svc),
        ("skglm LinearSVC", "skglm", skglm_svc),
    ):
        if installed(module):
            runs[name] = [functools.partial(solve, X, y, C, tol) for C, tol in settings]
    return runs


def sklearn_many(X, y, C, tol, **options):
    """The vectors of all classes, one in each row, their biases last."""
    from sklearn.svm import LinearSVC

    model = LinearSVC(C=C, tol=tol, max_iter=100_000, **options).fit(X, y)
    return np.column_stack([model.coef_, model.intercept_])


def one_vs_rest(X, y, C):
    """Peers of the 2-norm soft margin of each class against the rest."""
    return {
        name: [functools.partial(sklearn_many, X, y, C, tol, dual=dual) for tol in TOLERANCES]
        for name, dual in (("LinearSVC primal", False), ("LinearSVC dual", True))
    }


def machine(X, y):
    """Peers of a linear machine's hard margin: Crammer and Singer's, with a large C."""
    settings = itertools.product(LARGE[:2], (1e-2, 1e-4))
    options = {"multi_class": "crammer_singer"}
    return {
        "LinearSVC crammer_singer": [functools.partial(sklearn_many, X, y, C, tol, **options) for C, tol in settings]
    }
