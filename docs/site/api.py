"""Write the pages of the API reference from the public modules, by importing them.

Names are looked up when they are first used, and many functions are ops made from a table, so a
generator that only reads source files would miss most of them.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from importlib import import_module
from types import ModuleType
from typing import Any

PACKAGE = "rewrite_engine"
#: public modules, in the order of the index
MODULES = (
    "rewrite_engine",
    "rewrite_engine.tensor",
    "rewrite_engine.tensor.linalg",
    "rewrite_engine.tensor.fft",
    "rewrite_engine.tensor.special",
    "rewrite_engine.tensor.signal",
    "rewrite_engine.random",
    "rewrite_engine.sparse",
    "rewrite_engine.xtensor",
    "rewrite_engine.loops",
    "rewrite_engine.gradient",
    "rewrite_engine.optimize",
    "rewrite_engine.compile",
    "rewrite_engine.link",
    "rewrite_engine.distribute",
    "rewrite_engine.language",
    "rewrite_engine.facts",
    "rewrite_engine.check",
    "rewrite_engine.discover",
    "rewrite_engine.discover.suggest",
    "rewrite_engine.explain",
    "rewrite_engine.printing",
    "rewrite_engine.graph",
    "rewrite_engine.scalar",
    "rewrite_engine.terms",
    "rewrite_engine.match",
    "rewrite_engine.rewrite",
    "rewrite_engine.compat",
    "rewrite_engine.config",
    "rewrite_engine.errors",
)
#: pages of `rewrite_engine.tensor`: title, and the modules whose functions they have
TENSOR_PAGES = {
    "Variables": ("constructors", "type", "constant", "variable"),
    "Elementwise functions": ("elemwise", "elementwise", "math", "special"),
    "Creation and shapes": ("creation", "shape", "dimshuffle", "reshape", "shaping"),
    "Reductions and statistics": ("reduce", "statistics", "running"),
    "Indexing": ("index",),
    "Sorting, searching, sets": ("order",),
    "Products and batches": ("product", "blockwise"),
    "Other functions": ("",),
}
CLASSES = "Types and classes of ops"  # the title of one more page
SIMPLE = re.compile(r"-?[\d.e]+|None|True|False|'[^']{0,30}'|\(\)")
MAX_SIGNATURE = 160  # characters; a longer one is cut after its required parameters


def public_names(module: ModuleType) -> list[str]:
    """Return the names that a module offers: `__all__`, or those defined in its package."""
    if hasattr(module, "__all__"):
        return sorted((n for n in module.__all__ if not n.startswith("_")), key=str.lower)
    names = [n for n in dir(module) if not n.startswith("_")]
    return sorted((n for n in names if belongs(getattr(module, n), module)), key=str.lower)


def belongs(thing: Any, module: ModuleType) -> bool:
    """Return whether a thing is one of a module's own: no import of another package or layer."""
    if inspect.ismodule(thing):
        return False
    home = getattr(thing, "__module__", None) or ""
    is_described = callable(thing) or inspect.isclass(thing)
    return is_described and home.startswith(module.__name__.rsplit(".", 1)[0] + ".")


# --- docstrings as Markdown -----------------------------------------------------------------------


def escaped(text: str) -> str:
    """Return text in which only `code` is marked up."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(
        p if i % 2 else re.sub(r"([*_<>\[\]\\|$#{}])", r"\\\1", p) for i, p in enumerate(parts)
    )


def with_parameters(paragraph: str, parameters: Iterable[str]) -> str:
    """Return a paragraph; descriptions of parameters in it become a list."""
    known = set(parameters)
    text, raises, errors = " ".join(paragraph.split()).partition("Raises ")
    pieces = re.split(r"(?:^|(?<=[.;)] ))((?:\w+, )*\w+): ", text)
    merged = [pieces[0]]
    for names, rest in zip(pieces[1::2], pieces[2::2], strict=True):
        if known.issuperset(names.split(", ")):
            merged.append(f"* **`{names}`**: {escaped(rest.strip())}")
        elif len(merged) == 1:
            merged[0] += f"{names}: {rest}"
        else:
            merged[-1] += f" {escaped(f'{names}: {rest}'.strip())}"
    first, *items = merged
    last = escaped(raises + errors)
    return "\n\n".join(part for part in (escaped(first.strip()), "\n".join(items), last) if part)


def block(paragraph: str, parameters: Iterable[str]) -> str:
    """Return a paragraph of a docstring as Markdown."""
    if paragraph.lstrip().startswith(">>>"):
        return f"```python\n{inspect.cleandoc(paragraph)}\n```"
    if all(line.startswith("    ") for line in paragraph.splitlines()):
        return f"```text\n{inspect.cleandoc(paragraph)}\n```"
    if paragraph.startswith(("* ", "- ")):
        items = re.split(r"^[*-] ", paragraph, flags=re.MULTILINE)[1:]
        return "\n".join(f"* {escaped(' '.join(item.split()))}" for item in items)
    return with_parameters(paragraph, parameters)


def as_markdown(doc: str, parameters: Iterable[str] = ()) -> str:
    """Return a docstring as Markdown."""
    parameters = list(parameters)
    paragraphs: list[str] = []
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(doc)):
        prompt = paragraph.lstrip().startswith(">>>")
        if prompt and paragraphs and paragraphs[-1].lstrip().startswith(">>>"):
            paragraphs[-1] += f"\n\n{paragraph}"
        else:
            paragraphs.append(paragraph)
    return "\n\n".join(block(paragraph, parameters) for paragraph in paragraphs)


def summary(thing: Any) -> str:
    """Return the first sentence of a docstring."""
    text = " ".join(documentation(thing).split("\n\n")[0].split())
    return escaped(re.split(r"(?<=\.)\s", text, maxsplit=1)[0].rstrip(":"))


def documentation(thing: Any) -> str:
    """Return the docstring of a thing; an instance without its own has none."""
    if inspect.isclass(thing) or inspect.isroutine(thing) or inspect.ismodule(thing):
        return inspect.getdoc(thing) or ""
    own = getattr(thing, "__doc__", None)
    if not own or own == type(thing).__doc__:
        return described(thing)
    return re.sub(r"\A\w+\(.*\)\n\n", "", inspect.cleandoc(own))  # (its signature is the head)


def described(thing: Any) -> str:
    """Return what an op on elements, a type or another instance is, in a sentence."""
    scalar = getattr(thing, "scalar_op", None)
    if scalar is None:
        return f"An instance of `{type(thing).__name__}`."
    values = "" if scalar.range is None else f", with values in `{scalar.range}`"
    source = scalar.function or ""
    known = f" (`{source if '.' in source else f'numpy.{source}'}`)" if source else ""
    return f"Function `{scalar.name}` of each element{known}{values}."


# --- signatures -----------------------------------------------------------------------------------


def signature(thing: Any) -> inspect.Signature | None:
    """Return the signature of a callable, if Python knows it; of a class, that of `__init__`."""
    try:
        if inspect.isclass(thing) and type(thing) is not type and "__init__" in vars(thing):
            full = inspect.signature(thing.__init__)
            return full.replace(parameters=list(full.parameters.values())[1:])
        return inspect.signature(thing)
    except (TypeError, ValueError):
        return None


def call(thing: Any) -> str:
    """Return the parameters of a callable as a line of code, without annotations."""
    known = signature(thing)
    if known is None:
        return "(...)" if callable(thing) else ""
    if getattr(thing, "scalar_op", None) is not None:
        return operands(thing, known)
    parameters = [
        p.replace(annotation=p.empty, default=p.default if is_simple(p.default) else ...)
        if p.default is not p.empty
        else p.replace(annotation=p.empty)
        for p in known.parameters.values()
    ]
    text = str(inspect.Signature(parameters)).replace("Ellipsis", "...")
    if len(text) <= MAX_SIGNATURE:
        return text
    required = [p for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
    return str(inspect.Signature(required))[:-1] + (", ...)" if required else "...)")


def operands(thing: Any, known: inspect.Signature) -> str:
    """Return the operands of a function of elements; its options are the same for all of them."""
    names = [p.name for p in known.parameters.values() if p.kind < p.VAR_POSITIONAL]
    if not names and thing.scalar_op.nin:
        names = list("xyzabcd"[: thing.scalar_op.nin])
    return f"({', '.join(names or ['*operands'])})"


def is_simple(value: Any) -> bool:
    """Return whether a default value is short and reads as code."""
    return SIMPLE.fullmatch(repr(value)) is not None


# --- entries --------------------------------------------------------------------------------------


def entry(module: str, name: str, thing: Any) -> str:
    """Return the entry of one public name."""
    if inspect.isclass(thing):
        return class_entry(module, name, thing)
    kind = "function" if callable(thing) else "data"
    parameters = signature(thing).parameters if callable(thing) and signature(thing) else ()
    text = as_markdown(documentation(thing), parameters)
    return directive(kind, f"{module}.{name}{call(thing) if callable(thing) else ''}", text)


def class_entry(module: str, name: str, cls: type) -> str:
    """Return the entry of a class: its docstring and the methods that it defines in public."""
    known = signature(cls)
    kind = "exception" if issubclass(cls, BaseException) else "class"
    parts = [as_markdown(inspect.getdoc(cls) or "", known.parameters if known else ())]
    for method, function in sorted(vars(cls).items()):
        if not method.startswith("_") and documented(function):
            parts.append(method_entry(f"{module}.{name}.{method}", function))
    head = call(cls) if kind == "class" else ""
    return directive(kind, f"{module}.{name}{head}", "\n\n".join(parts), fence=8)


def documented(member: Any) -> bool:
    """Return whether a member of a class is a method or property with a docstring."""
    function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
    return inspect.isfunction(function) and bool(function.__doc__)


def method_entry(full: str, member: Any) -> str:
    """Return the entry of a method or property."""
    if isinstance(member, property):
        return directive("property", full, as_markdown(member.__doc__ or ""))
    function = getattr(member, "__func__", member)
    known = signature(function)
    assert known is not None
    text = re.sub(r"^\((?:self|cls)(?:, )?", "(", call(function))
    return directive("method", full + text, as_markdown(function.__doc__, known.parameters))


def directive(kind: str, head: str, text: str, fence: int = 6) -> str:
    """Return a directive of Sphinx's Python domain, with Markdown inside."""
    marks = "`" * fence
    return f"{marks}{{py:{kind}}} {head}\n\n{text}\n{marks}"


# --- pages ----------------------------------------------------------------------------------------


def tensor_page(thing: Any) -> str:
    """Return the title of the page that has a name of `rewrite_engine.tensor`."""
    if inspect.isclass(thing):
        return CLASSES
    home = (getattr(thing, "__module__", None) or "").removeprefix("rewrite_engine.tensor.")
    if not callable(thing):
        return "Variables"
    for title, homes in TENSOR_PAGES.items():
        if any(home == h or home.startswith(f"{h}.") for h in homes):
            return title
    return "Other functions"


def page(title: str, intro: str, module: str, names: dict[str, Any]) -> str:
    """Return a page: a table of its names, then an entry for each."""
    rows = [f"| {link(module, n)} | {summary(thing)} |" for n, thing in names.items()]
    table = "\n".join(["| name | |", "|---|---|", *rows])
    entries = "\n\n".join(entry(module, n, thing) for n, thing in names.items())
    return f"# {title}\n\n{intro}\n\n{table}\n\n## Details\n\n{entries}\n"


def link(module: str, name: str) -> str:
    """Return a link to the entry of a name."""
    return f"{{py:obj}}`{name} <{module}.{name}>`"


def module_pages(name: str) -> dict[str, str]:
    """Return the pages of a module, by file name."""
    module = import_module(name)
    things = {n: getattr(module, n) for n in public_names(module)}
    things = {n: thing for n, thing in things.items() if not inspect.ismodule(thing)}
    intro = as_markdown(inspect.getdoc(module) or "")
    if name == "rewrite_engine.tensor":
        return tensor_pages(name, intro, things)
    return {f"api/{name}.md": page(name, intro, name, things)}


def tensor_pages(name: str, intro: str, things: dict[str, Any]) -> dict[str, str]:
    """Return the pages of a module with many names: one for each group, and one that lists them."""
    groups: dict[str, dict[str, Any]] = {title: {} for title in [*TENSOR_PAGES, CLASSES]}
    for n, thing in things.items():
        groups[tensor_page(thing)][n] = thing
    rows, pages = [], {}
    for title, group in groups.items():
        file = f"{name}.{re.sub(r'[^a-z]+', '-', title.lower())}.md"
        rows.append(f"| [{title}]({file}) | {len(group)} names |")
        pages[f"api/{file}"] = page(title, f"Part of `{name}`.", name, group)
    entries = "\n".join(f"/{file.removesuffix('.md')}" for file in pages)
    toctree = f"```{{toctree}}\n:hidden:\n\n{entries}\n```"
    table = "\n".join(["| page | |", "|---|---|", *rows])
    return {f"api/{name}.md": f"# {name}\n\n{intro}\n\n{table}\n\n{toctree}\n"} | pages


def api_pages() -> dict[str, str]:
    """Return all pages of the API reference, by file name."""
    pages: dict[str, str] = {}
    rows = []
    for name in MODULES:
        pages |= module_pages(name)
        rows.append(f"| [`{name}`]({name}.md) | {summary(import_module(name))} |")
    table = "\n".join(["| module | |", "|---|---|", *rows])
    return pages | {"api/index.md": f"\n{table}\n"}
