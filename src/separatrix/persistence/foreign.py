"""What a model file may hold of scikit-learn: classes whose attributes are data, and functions by their names.

Their methods compute with numpy what the data say. Estimators whose compiled code trusts its arrays (trees, LIBSVM,
neighbours) are not among them: a file that was made to harm could lead them out of bounds.
"""

from importlib import import_module
from typing import Any

FOREIGN = {
    "sklearn.calibration": ["CalibratedClassifierCV", "_CalibratedClassifier", "_SigmoidCalibration"],
    "sklearn.compose._column_transformer": ["ColumnTransformer"],
    "sklearn.decomposition._fastica": ["FastICA"],
    "sklearn.decomposition._incremental_pca": ["IncrementalPCA"],
    "sklearn.decomposition._pca": ["PCA"],
    "sklearn.decomposition._truncated_svd": ["TruncatedSVD"],
    "sklearn.ensemble._bagging": ["BaggingClassifier"],
    "sklearn.ensemble._voting": ["VotingClassifier"],
    "sklearn.feature_selection._from_model": ["SelectFromModel"],
    "sklearn.feature_selection._rfe": ["RFE"],
    "sklearn.feature_selection._sequential": ["SequentialFeatureSelector"],
    "sklearn.feature_selection._univariate_selection": [
        "SelectKBest", "SelectPercentile", "SelectFpr", "SelectFdr", "SelectFwe", "GenericUnivariateSelect",
    ],
    "sklearn.feature_selection._variance_threshold": ["VarianceThreshold"],
    "sklearn.frozen._frozen": ["FrozenEstimator"],
    "sklearn.impute._base": ["SimpleImputer", "MissingIndicator"],
    "sklearn.kernel_approximation": ["Nystroem", "RBFSampler"],
    "sklearn.linear_model._logistic": ["LogisticRegression"],
    "sklearn.model_selection._search": ["GridSearchCV", "RandomizedSearchCV"],
    "sklearn.model_selection._split": ["KFold", "StratifiedKFold", "ShuffleSplit", "StratifiedShuffleSplit"],
    "sklearn.multiclass": ["OneVsRestClassifier", "OneVsOneClassifier", "_ConstantPredictor"],
    "sklearn.pipeline": ["Pipeline", "FeatureUnion"],
    "sklearn.preprocessing._data": [
        "StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "Normalizer", "Binarizer",
        "PowerTransformer", "QuantileTransformer",
    ],
    "sklearn.preprocessing._discretization": ["KBinsDiscretizer"],
    "sklearn.preprocessing._encoders": ["OneHotEncoder", "OrdinalEncoder"],
    "sklearn.preprocessing._function_transformer": ["FunctionTransformer"],  # without functions: the identity
    "sklearn.preprocessing._label": ["LabelBinarizer", "LabelEncoder"],
    "sklearn.preprocessing._polynomial": ["PolynomialFeatures"],
    "sklearn.random_projection": ["GaussianRandomProjection", "SparseRandomProjection"],
}  # fmt: skip
FUNCTIONS = {"sklearn.feature_selection": ["f_classif", "chi2", "mutual_info_classif"]}  # scores of features
SEARCHES = ("GridSearchCV", "RandomizedSearchCV")
REMADE = {"scorer_", "_checked_cv_orig"}  # of a search: live objects, made again from its parameters


def is_foreign(cls: type) -> bool:
    return cls.__name__ in FOREIGN.get(cls.__module__, [])


def allowed() -> str:
    """In words, for messages."""
    names = sorted(name for names in FOREIGN.values() for name in names if not name.startswith("_"))
    return f"Of scikit-learn it may hold {', '.join(names)}; skops or pickle save others."


def function_name(value: Any) -> str | None:
    """The name of a function that a model may refer to."""
    for home, names in FUNCTIONS.items():
        for name in names:
            if getattr(import_module(home), name, None) is value:
                return f"{home}.{name}"
    return None


def function_of(name: str) -> Any:
    home, _, short = name.rpartition(".")
    return getattr(import_module(home), short) if short in FUNCTIONS.get(home, []) else None


def state_of(value: Any) -> dict[str, Any]:
    """The attributes of an object that are kept."""
    dropped = REMADE if type(value).__name__ in SEARCHES else ()
    return {name: content for name, content in vars(value).items() if name not in dropped}


def complete(made: Any) -> None:
    """Make again what was not kept."""
    if type(made).__name__ in SEARCHES and "best_estimator_" in vars(made):
        from sklearn.metrics import check_scoring

        scoring = made.scoring if isinstance(made.scoring, str) else None
        made.scorer_ = check_scoring(made.best_estimator_, scoring)
