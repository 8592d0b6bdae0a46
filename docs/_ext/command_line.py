"""The command line, shown by running it.

``command-line``: what ``separatrix COMMAND --help`` prints, for every command that there is. The commands are found by
asking, so a new one appears by itself, and a removed one disappears.

``run-command``: a command and what it prints. The commands of a page run one after the other in a folder of their own,
which begins with the data files of ``docs/start``. A command that fails stops the build, unless ``:status:`` expects
it.
"""

import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective


def separatrix(*arguments: str, **options) -> subprocess.CompletedProcess:
    program = Path(sys.executable).with_name("separatrix")
    return subprocess.run([program, *arguments], capture_output=True, text=True, **options)


def help_of(*command: str) -> str:
    return separatrix(*command, "--help", check=True).stdout


def commands_of(text: str) -> list[str]:
    """The names in the list of commands of a help text."""
    _, _, listed = text.partition("Commands:\n")
    return re.findall(r"^  (\S+)", listed, flags=re.M)


class CommandLine(SphinxDirective):
    """A section for each command, with its help."""

    def run(self) -> list[nodes.Node]:
        return [self._section(name) for name in commands_of(help_of())]

    def _section(self, *command: str) -> nodes.section:
        title = " ".join(("separatrix", *command))
        text = help_of(*command)
        section = nodes.section(ids=[nodes.make_id(title)], names=[title])
        section += nodes.title(title, title)
        section += nodes.literal_block(text, text, language="text")
        section.extend(self._section(*command, name) for name in commands_of(text))
        return section


class RunCommand(SphinxDirective):
    """Run a command while the page is read, and show the command with its output."""

    has_content = True
    option_spec = {"status": directives.nonnegative_int, "lines": directives.positive_int}

    def run(self) -> list[nodes.Node]:
        command = " ".join(self.content)
        program, *arguments = shlex.split(command)
        if program != "separatrix":
            raise self.error(f"only separatrix is run here, not {program}")
        done = separatrix(*arguments, cwd=self._folder())
        if done.returncode != self.options.get("status", 0):
            raise self.error(f"{command} ended with status {done.returncode}: {done.stdout}{done.stderr}")
        printed = [line.rstrip() for line in (done.stderr if done.returncode == 3 else done.stdout).splitlines()]
        shown = printed[: self.options.get("lines")]
        text = "\n".join([f"$ {command}", *shown, *(["..."] if len(shown) < len(printed) else [])])
        return [nodes.literal_block(text, text, language="console")]

    def _folder(self) -> Path:
        folders = self.env.temp_data.setdefault("run-command", {})
        if self.env.docname not in folders:
            folder = tempfile.TemporaryDirectory()
            for data in Path(self.env.srcdir, "start").glob("*.csv"):
                shutil.copy(data, folder.name)
            folders[self.env.docname] = folder
        return Path(folders[self.env.docname].name)


def setup(app):
    app.add_directive("command-line", CommandLine)
    app.add_directive("run-command", RunCommand)
    return {"parallel_read_safe": True}
