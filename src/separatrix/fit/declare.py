"""How an estimator is declared: a dataclass whose fields are its parameters.

Own parameters come first and may be given by position; those that a whole family shares are keyword-only and are
documented once, in `SHARED`, and written into every docstring at its ``{shared}`` mark.
"""

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

T = TypeVar("T")

SHARED = """fit_intercept : bool, default=True
        Learn a bias by augmenting every row with the constant ``intercept_scaling``. False: a hyperplane through the
        origin.
    intercept_scaling : float, default=1.0
        The augmenting constant (the rho of the sources, not LIBSVM's). The larger it is, the closer the directional
        margin comes to the geometric one and the less the bias is penalised.
    until : {"accurate", "separated"}, default="accurate"
        "accurate": a few epochs, and the mean of the vector over the second half of them predicts; if an epoch passes
        without an update, the fit ends there with the last vector. It does not promise to separate separable data, nor
        what a theorem promises for the last vector: "separated" is the algorithm of the theorem, with the last vector
        of at most ``max_iter`` epochs.
    max_iter : int, default=1000
        Passes over the data, per call of `fit`, at most. "accurate" takes 5 (20 for some rules), and as many as
        visit 5,000 rows if there are fewer.
    max_updates : int or None, default=None
        Corrections, in all.
    shuffle : bool or "blocks", default=True
        Draw a new order for every epoch. False: the rows as they come. "blocks": blocks of some hundred neighbouring
        rows in a random order. Memory is then read in sequence, so that an epoch over many rows takes a fraction of the
        time. Take True if neighbours are alike, as in a file sorted by class.
    random_state : int, RandomState or None, default=0
        Seed of the orders.
    warm_start : bool, default=False
        Let `fit` go on where the last one ended, exactly; on other data it starts from the last vector.
    early_stopping : bool, default=False
        Hold out a part of the data and stop when its accuracy has not risen for ``n_iter_no_change`` epochs. For
        ``until="separated"``: before half of the epochs there is no mean yet, and the last vector predicts.
    validation_fraction : float, default=0.1
        The part that is held out.
    n_iter_no_change : int or None, default=None
        Patience in epochs. Without ``early_stopping``: stop when an epoch's number of corrections has not fallen
        below its minimum for so long; None never stops for that. With it, None means 5.
    multi_class : {"ovr", "ovo", "joint"}, default="ovr"
        More than two classes: a hyperplane for each against the rest, one for each pair, or one linear machine with a
        vector per class, trained as a whole (Kesler's construction, DHS eq. 115). Its certificate speaks of the
        machine, ``certificate_.verify(X, y)``.
    joint_update : {"strongest", "all", "together"}, default="strongest"
        What a visit of the machine corrects: the strongest wrong class, or every one that violates the rule, one after
        the other, or, of `PassiveAggressive` alone, together.
    n_jobs : int or None, default=None
        Threads over the problems of "ovr" and "ovo"; -1 takes all cores. With callbacks there is one.
    mix : bool or None, default=None
        For rows that live elsewhere (`separatrix.data`). False: they are visited block after block, as one run over all
        of them would; ``shuffle`` then draws an order within each block. True: in every epoch each block runs the rule
        from the same vector, and the mean of what they come to is the next one (McDonald 2010). None mixes on Dask.
    checkpoint : str or path, default=None
        A file in which a fit to rows that live elsewhere is kept while it runs. A fit that was killed goes on from
        there when the same call is made again, and ends with the same bits."""

AVERAGE = """average : bool, default=False
        Predict with the mean of the vector over all visits instead of the last one."""

DELTA = """delta : float, default=0.0
        Soft margin: the extension of the space by ``delta`` per pattern, which makes all data separable there
        (``LinearSVC(loss="squared_hinge")`` has C = 1/(2 delta^2)). 0 is the hard margin."""

ATTRIBUTES = """classes_ : ndarray
        The labels; of two, the second is the positive class.
    coef_, intercept_ : ndarray
        The separating vectors, (1, d) for two classes and (c, d) for c, one per pair for "ovo", and their biases.
    multi_class_ : str
        How several classes were told apart; of two classes "ovr".
    certificate_ : Certificate
        What the fit proves: lower and upper bound of the margin, separability. ``certificates_``: one per problem.
    directional_margin_, geometric_margin_ : float
        min u.y_k in the augmented space, and the smallest distance from the hyperplane (negative: an error).
    converged_ : bool
        One complete epoch without update. ``stop_reason_`` says how the fit ended; "epochs": it made all those of
        ``until="accurate"``.
    n_updates_, n_visits_, n_epochs_ : int
        Corrections, rows looked at, complete passes; ``n_iter_``, scikit-learn's name, is the last.
    validation_rows_ : ndarray
        Rows that ``early_stopping`` held out. Certificates and margins speak of them too."""

BATCH = """fit_intercept : bool, default=True
        Learn a bias by augmenting every row with the constant ``intercept_scaling``. False: a hyperplane through the
        origin.
    intercept_scaling : float, default=1.0
        The augmenting constant (the rho of the sources, not LIBSVM's).
    multi_class : {"ovr", "ovo"}, default="ovr"
        More than two classes: a hyperplane for each against the rest, or one for each pair.
    n_jobs : int or None, default=None
        Threads over the problems of several classes; -1 takes all cores. With callbacks there is one.
    random_state : int, RandomState or None, default=None
        Taken for the sake of tools that set it, and ignored: nothing here is random."""

EPOCHS = """max_iter : int, default=1000
        Iterations, each a pass over the data, per binary problem."""

BATCH_ATTRIBUTES = """classes_ : ndarray
        The labels; of two, the second is the positive class.
    coef_, intercept_ : ndarray
        The vectors, (1, d) for two classes and (c, d) for c, one per pair for "ovo", and their biases.
    multi_class_ : str
        How several classes were told apart; of two classes "ovr".
    certificate_ : Certificate
        What the fit proves: lower and upper bound of the margin, separability. ``certificates_``: one per problem.
    directional_margin_, geometric_margin_ : float
        min u.y_k in the augmented space, and the smallest distance from the hyperplane (negative: an error).
    converged_ : bool
        The procedure came to its end. ``stop_reason_`` says how the fit ended.
    criterion_values_ : ndarray
        The criterion at each epoch, or at the end of a direct solution; a list of them if there are several problems.
    n_updates_, n_visits_, n_epochs_ : int
        Corrections of the vector, rows looked at, passes over the data; ``n_iter_``, scikit-learn's name, is the
        last."""

CLASS_WEIGHT = """class_weight : dict, "balanced" or None, default=None
        Factors on the weights of the rows, by class; "balanced": n / (classes * rows of the class). They multiply
        ``sample_weight``."""

CHECKPOINT = """checkpoint : str or path, default=None
        A file in which the passes over rows that live elsewhere (`separatrix.data`) are kept. A fit that was killed
        goes on from there when the same call is made again, and ends with the same bits. The file is guarded by the
        fingerprint of rows and parameters; it may be removed when the fit is done."""

KERNEL = """kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        The inner product; a function takes two matrices and returns those of their rows. Precomputed: X holds them,
        (n, n) for `fit` and (m, n) for `predict`. Sigmoid, own and precomputed kernels and poly with a negative coef0
        need not be inner products: up to 4,000 rows this is looked at, and beyond nothing bounds the margin.
    gamma : {"scale", "auto"} or float, default="scale"
        Of rbf, poly and sigmoid: 1/(d var(X)), 1/d, or a number.
    degree : float, default=3
        Of poly. One that is no integer needs gamma x.z + coef0 >= 0.
    coef0 : float, default=0.0
        Of poly and sigmoid.
    cache_size : float, default=500
        Megabytes for rows of the Gram matrix, in all problems together."""

SUPPORT = """support_ : ndarray
        Rows that support a vector, in all problems together; ``support_vectors_`` are these rows of X.
    dual_coef_ : ndarray of shape (number of vectors, number of support vectors)
        Multiples of these rows.
    intercept_ : ndarray
        The biases."""

_MARKS = {
    "{class_weight}": CLASS_WEIGHT,
    "{checkpoint}": CHECKPOINT,
    "{kernel}": KERNEL,
    "{support}": SUPPORT,
    "{shared}": SHARED,
    "{delta}": DELTA,
    "{average}": AVERAGE,
    "{attributes}": ATTRIBUTES,
    "{batch}": BATCH,
    "{epochs}": EPOCHS,
    "{batch_attributes}": BATCH_ATTRIBUTES,
}


@dataclass_transform(eq_default=False)
def estimator(cls: type[T]) -> type[T]:
    """Make the annotated fields of a class the parameters of an estimator."""
    cls = dataclass(eq=False, repr=False)(cls)
    for mark, text in _MARKS.items():
        cls.__doc__ = (cls.__doc__ or "").replace(mark, text)
    return cls
