"""Configuration of the site: ``pip install '.[docs]' && make -C docs html``."""

import os
import sys
import warnings
from importlib.metadata import version as installed
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
os.environ.setdefault("SEPARATRIX_DATA", str(HERE / "no-data"))  # examples need nothing that is not in scikit-learn
os.environ["COLUMNS"] = "72"  # width of what the command line prints

project = "separatrix"
author = "the separatrix authors"
copyright = "the separatrix authors, BSD-3-Clause"
version = release = installed("separatrix")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinx-mathjax-offline",
    "command_line",
    "drawn",
    "public_api",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "pictures", "reference/backreferences"]
templates_path = ["_templates"]
default_role = "py:obj"
nitpicky = True
nitpick_ignore_regex = [(r"py:.*", r"(?!separatrix\b).*")]  # names of other packages are words, not links

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath", "attrs_inline", "substitution"]
myst_heading_anchors = 4
myst_dmath_double_inline = True

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_use_plots = False
numpydoc_xref_param_type = False

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "separatrix"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["files.js"]
html_context = {"default_mode": "auto"}
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
html_search_language = "en"
html_search_scorer = str(HERE / "_static" / "search_scorer.js")
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "search_bar_text": "Search: a term, a name, an error",
}
html_sidebars = {"index": []}

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "backreferences_dir": "reference/backreferences",
    "doc_module": ("separatrix",),
    "reference_url": {"separatrix": None},
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 60,
    "matplotlib_animations": False,
    "within_subsection_order": "NumberOfCodeLinesSortKey",  # the simplest first
    "nested_sections": False,
    "thumbnail_size": (400, 280),
    "reset_modules": ("gallery_style.reset",),
    "subsection_order": [
        f"../examples/{part}"
        for part in ("start", "perceptrons", "margins", "criteria", "optimum", "classes", "practice")
    ],
}
warnings.filterwarnings("ignore", message=r".*is non-interactive.*")  # matplotlib's, of plt.show in a build
