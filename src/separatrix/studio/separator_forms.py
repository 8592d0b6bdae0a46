"""The forms in which separators and their parameters are chosen."""

from collections.abc import Callable
from typing import Any

from separatrix.app.workflows.known_algorithms import algorithm_named, algorithms
from separatrix.errors import DataError
from separatrix.studio.board import MOST_SEPARATORS, Separator
from separatrix.studio.forms import Field, fields_of, value_of
from separatrix.studio.page_frame import WIDGET

NO_FORM = {"PerceptronLike"}  # its rule is a class of one's own


def offered() -> list[str]:
    return [a.name for a in algorithms() if a.name not in NO_FORM]


class Forms:
    """One form for each separator; ``changed`` is called with all of them, ``complain`` with what is wrong."""

    def __init__(
        self,
        separators: tuple[Separator, ...],
        changed: Callable[[tuple[Separator, ...]], None],
        complain: Callable[[str], None],
    ):
        import panel as pn

        self.pn, self.changed, self.complain = pn, changed, complain
        self.separators = list(separators)
        self.place = pn.Column(sizing_mode="stretch_width", margin=0)
        self.add = pn.widgets.Button(name="+ another separator", stylesheets=[WIDGET], margin=(2, 5))
        self.add.on_click(self._one_more)
        self.show(separators)

    def show(self, separators: tuple[Separator, ...]) -> None:
        self.separators = list(separators)
        self.place.objects = [self._form(k) for k in range(len(separators))] + [self.add]
        self.add.disabled = len(separators) >= MOST_SEPARATORS

    def _one_more(self, event: Any) -> None:
        taken = {s.name for s in self.separators}
        name = next(n for n in ("MaxMargin", "Perceptron", "DynamicMargin", "Pocket", *offered()) if n not in taken)
        self._set(len(self.separators), Separator(name))

    def _set(self, k: int, separator: Separator | None) -> None:
        found = [s for i, s in enumerate(self.separators) if i != k]
        if separator is not None:
            found.insert(k, separator)
        self.show(tuple(found))
        self.changed(tuple(found))

    def _form(self, k: int) -> Any:
        pn, separator = self.pn, self.separators[k]
        names = offered()
        chosen = pn.widgets.Select(
            name=f"separator {k + 1}" if k else "separator", options=names, value=separator.name, stylesheets=[WIDGET],
            min_width=150, sizing_mode="stretch_width", margin=(2, 5),
        )  # fmt: skip
        chosen.param.watch(lambda event: self._set(k, Separator(event.new)), "value")
        head = [chosen]
        if len(self.separators) > 1:
            remove = pn.widgets.Button(name="remove", stylesheets=[WIDGET], align="end", width=80, margin=(2, 5))
            remove.on_click(lambda event: self._set(k, None))
            head.append(remove)
        inputs = [self._input(k, field) for field in fields_of(algorithm_named(separator.name).cls)]
        card = pn.Card(
            pn.FlexBox(*inputs, margin=0),
            title=f"parameters of {separator.name}",
            header=pn.pane.HTML(f"parameters of {separator.name}", stylesheets=[WIDGET], margin=(4, 0)),
            collapsed=not separator.parameters,
            sizing_mode="stretch_width",
            margin=(4, 5, 6, 5),
            header_background="var(--tile)",
            header_color="var(--ink)",
            active_header_background="var(--tile)",
            styles={"background": "var(--paper)", "border-color": "var(--line)", "color": "var(--ink)"},
            stylesheets=[
                WIDGET,
                ".card-button, .card-title, h3 { color: var(--ink); font-weight: normal; }",
            ],
        )
        return pn.Column(
            pn.Row(*head, sizing_mode="stretch_width", margin=0), card, sizing_mode="stretch_width", margin=0
        )

    def _input(self, k: int, field: Field) -> Any:
        pn = self.pn
        value = self.separators[k].parameters.get(field.name, field.default)
        looks: dict[str, Any] = {"name": field.name, "width": 150, "stylesheets": [WIDGET], "margin": (2, 6)}
        if field.kind == "yes or no":
            made = pn.widgets.Checkbox(value=bool(value), **looks)
        elif field.kind == "choice":
            made = pn.widgets.Select(options=list(field.options), value=value, **looks)
        else:
            parts = str(value) if field.kind == "text" else f"{value:g}" if isinstance(value, float) else str(value)
            made = pn.widgets.TextInput(value=parts, placeholder=field.allows[:60], **looks)
        made.param.watch(lambda event: self._typed(k, field, event), "value")
        return made

    def _typed(self, k: int, field: Field, event: Any) -> None:
        try:
            value = value_of(field, event.new)
            parameters = {**self.separators[k].parameters, field.name: value}
            checked = Separator.checked(self.separators[k].name, parameters)
        except (DataError, ValueError) as error:
            self.complain(f"{field.name}: {error}")
            return
        self.separators[k] = checked
        self.changed(tuple(self.separators))
