"""``separatrix show``: what a model file holds."""

from typing import Any

from separatrix.app.cli import options, terminal


def show(model: options.Model, json: options.Json = False) -> None:
    """Show a model: weights, certificate, parameters, and where it comes from.

    Example: separatrix show iris.sx
    """
    from separatrix.app.report.summary import certificates_dict, changed, largest_weights, margin_rows
    from separatrix.app.saved_models import read_classifier, used
    from separatrix.persistence.files import classifier_of

    file = read_classifier(model)
    separator = classifier_of(file.model)
    with used(model):
        steps = [type(step).__name__ for _, step in ([] if separator is file.model else file.model.steps)]
        certified = hasattr(separator, "certificate_")
        weights = largest_weights(file.model, most=20) if certified else []
        content: dict[str, Any] = {
            "separator": type(separator).__name__,
            "steps": steps,
            "classes": [str(c) for c in separator.classes_],
            "certificates": certificates_dict(separator) if certified else [],
            "largest_weights": {name: dict(pairs) for name, pairs in weights},
            "provenance": file.provenance,
        }
        rows = [("steps", " → ".join(steps or [content["separator"]]))]
        rows.append(("classes", ", ".join(content["classes"])))
        rows.append(("parameters", changed(separator) or "the defaults"))
        if certified:
            rows += margin_rows(separator)
            rows.append(("space", separator.certificate_.space.describe()))
        origin = _told(file.provenance)
        if json:
            terminal.print_json(content)
            return
        console = terminal.console()
        terminal.print_rows(console, f"{model}: {content['separator']}", rows)
        console.print()
        if weights:
            terminal.print_weights(console, weights, len(weights) > 1)
            console.print()
        terminal.print_rows(console, "provenance", origin)


def _told(provenance: dict[str, Any]) -> list[tuple[str, str]]:
    """What is worth a line: --json tells everything."""
    data, versions = provenance.get("data") or {}, provenance.get("versions") or {}
    rows = [("created", str(provenance.get("created", "")))]
    if data:
        rows.append(("data", f"{data.get('source')}, {data.get('rows')} rows, {data.get('features')} features"))
        rows.append(("target", f"{data.get('target')}, classes {data.get('classes')}"))
        rows.append(("sha256", str(data.get("sha256"))))
    for key, label in (("prepared", "prepared"), ("separability", "linearly separable")):
        value = provenance.get(key)
        if value:
            rows.append((label, str(value.get("explanation") if isinstance(value, dict) else value)))
    accuracy = provenance.get("cross_validated_accuracy")
    if isinstance(accuracy, dict):
        rows.append(("cross-validated accuracy", str(accuracy.get("mean"))))
    rows.append(("versions", ", ".join(f"{name} {version}" for name, version in versions.items())))
    return rows
