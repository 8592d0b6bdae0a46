"""scikit-learn's LinearSVC, SVC, Perceptron and PassiveAggressiveClassifier, solved by separatrix with a certificate.

Change the import and nothing else: each class is a subclass of scikit-learn's of the same name, with its constructor,
attributes, warnings and errors. Where separatrix solves the problem that is asked for, ``solver_`` names its solver,
and ``certificate_``, ``certificates_`` and, of LinearSVC, ``dual_gap_`` tell how good the answer is. Anything else is
left to scikit-learn's own fit; then ``solver_`` says so and why, and there is no certificate.

Code that cannot be edited: `patch` puts these classes in the place of scikit-learn's, `unpatch` takes them back, and
``with patched():`` does both.
"""

from separatrix.dropin.linear_svc import LinearSVC
from separatrix.dropin.patching import patch, patched, unpatch
from separatrix.dropin.sequential import PassiveAggressiveClassifier, Perceptron
from separatrix.dropin.svc import SVC

__all__ = ["SVC", "LinearSVC", "PassiveAggressiveClassifier", "Perceptron", "patch", "patched", "unpatch"]
