"""`Variable`, `Constant` and `Apply`: the nodes of a graph, and the only place that allocates them.

A graph is bipartite: an `Apply` is an op applied to input variables, and owns its output variables.
Clients and order belong to a `FunctionGraph`. Traversals are in `graph/traverse.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from types import GenericAlias, SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from rewrite_engine import hooks
from rewrite_engine.errors import ForeignObjectError, ReadOnlyError, describe, message
from rewrite_engine.graph.display import Displayed
from rewrite_engine.graph.intern import Record, prop_key
from rewrite_engine.graph.number import CONSTANT as CONSTANT
from rewrite_engine.graph.number import NO_NUMBER
from rewrite_engine.graph.origin import Origin, applied_origin, origin_line

if TYPE_CHECKING:
    from rewrite_engine.graph.op import Op
    from rewrite_engine.graph.type import Type


class Projection(Record):
    """Head of one output of an op with several: the op and the index of the output."""

    __props__ = ("op", "index")

    def __init__(self, op: Op, index: int) -> None:
        self.op = op
        self.index = index
        self.commutative = op.commutative


def heads_of(op: Op, n: int) -> Sequence[Any]:
    """Return the head of each of n outputs: the op itself for the only output or the
    `default_output`, which `op(...)` returns; a `Projection` for each other output.
    """
    if n == 1:
        return (op,)
    known: tuple[Any, ...] = op.__dict__.get("_heads", ())
    if len(known) < n:
        default = op.default_output
        known = tuple([op if i == default else Projection(op, i) for i in range(n)])
        op._heads = known
    return known


def output_name(op: Any, i: Any) -> str | None:
    """Return the name that an op declares for one of its outputs, or None."""
    names: Any = getattr(op, "output_names", None)
    if names is None:
        return None
    named = isinstance(names, Sequence) and isinstance(i, int) and i < len(names)
    return names[i] if named else None


class Tagged:
    """Base class of variables and nodes with a `tag`, where users may attach anything."""

    __slots__ = ()

    __class_getitem__: ClassVar[Any] = classmethod(
        GenericAlias
    )  # in annotations: `Variable[TensorType, Apply]`
    _tag: Any  # a namespace, None until it is asked for

    @property
    def tag(self) -> SimpleNamespace:
        """Namespace for any attributes (made on first use)."""
        if self._tag is None:
            self._tag = SimpleNamespace()
        return self._tag  # type: ignore[no-any-return]

    @tag.setter
    def tag(self, value: SimpleNamespace) -> None:
        self._tag = value


#: characters of a term that IPython prints, and of a constant that is written out
LONG, SHORT = 500, 20


class Variable(Displayed, Tagged):
    """Value in a graph that will be known when the graph runs.

    type: a `Type`. owner: the `Apply` that computes it, or None for a root. index: its place in
    `owner.outputs`. name: for printing. head: the op or `Projection` that computes it (`heads_of`),
    None for an input; matchers read it first. Programs may store attributes of their own on a
    variable.
    """

    __slots__ = ("type", "owner", "index", "name", "head", "__weakref__", "__dict__")

    type: Any
    owner: Apply | None
    index: int | None
    name: str | None
    head: Any
    __count__: ClassVar[Iterator[int]] = count()  # of `auto_name`
    _tag: SimpleNamespace | None = None
    _node_tag: SimpleNamespace | None = None  # that of its owner, of which it is the first output

    def __init__(
        self,
        type: Type,
        owner: Apply | None = None,
        index: int | None = None,
        name: str | None = None,
    ) -> None:
        if name is not None and not isinstance(name, str):
            raise ForeignObjectError(f"a name must be a string, not {describe(name)}")
        self.type = type
        self.owner = owner
        self.index = index
        self.name = name
        self.head = None
        if owner is not None:
            n = len(owner.outputs)
            self.head = owner.op if n < 2 else heads_of(owner.op, n)[index or 0]

    @property
    def auto_name(self) -> str:
        """Name that no other variable of this process has, `auto_0`, …, assigned on first use."""
        found = self.__dict__.get("_auto_name")
        if found is None:
            name = f"auto_{next(Variable.__count__)}"
            found = self.__dict__.setdefault("_auto_name", name)
        return found  # type: ignore[no-any-return]

    def clone(self, name: str | None = None) -> Self:
        """Return a root variable with the same type and name and a copy of the tag."""
        copy = self.__class__.__new__(self.__class__)
        Variable.__init__(copy, self.type, None, None, self.name if name is None else name)
        _copy_tag(self, copy)
        return copy

    def eval(self, inputs_to_values: Mapping[Any, Any] | None = None, **options: Any) -> Any:
        """Compute the value of this variable, given the values of the inputs it depends on.

        Raises `MissingInputError` if one is missing. For repeated calls use `function`.
        """
        return hooks.evaluate(self, inputs_to_values or {}, **options)

    def equals(self, other: Any) -> bool:
        """Return whether another variable is this one."""
        return self is other

    def dprint(self, **options: Any) -> Any:
        """Print what the variable is computed from, as a tree; options as of `dprint`."""
        return hooks.dprint(self, **options)

    def get_parents(self) -> list[Apply]:
        """Return the node this variable comes from, as a list."""
        return [] if self.owner is None else [self.owner]

    def __str__(self) -> str:
        """Return its name; without one, the op that computes it, or its type."""
        if self.name is not None:
            return self.name
        if self.owner is not None:
            name = output_name(self.owner.op, self.index)
            return f"{self.owner.op}.{self.index if name is None else name}"
        return f"<{self.type}>"

    def __repr__(self) -> str:
        """Return its name; without one, the term, cut to a line."""
        if self.name is not None or self.owner is None:
            return str(self)
        return hooks.short(self)  # type: ignore[no-any-return]

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Print the term, cut to a line, in IPython."""
        printer.text(hooks.pp(self, LONG))

    def __reduce_ex__(self, protocol: Any) -> Any:
        if self.owner is None:
            return super().__reduce_ex__(protocol)
        from rewrite_engine.graph.columns import flat

        return flat(self.owner, self.index)

    def __copy__(self) -> Any:
        return self.clone() if self.owner is None else self.owner.clone().outputs[self.index or 0]

    def __getstate__(self) -> Any:
        return {s: getattr(self, s) for s in ("type", "owner", "index", "name", "_tag")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.head = None  # of a root; `graph/columns.py` sets those of others
        for key, value in state.items():
            if key != "_tag" or value is not None:
                setattr(self, key, value)


class Constant(Variable):
    """Variable with a value that never changes: `data` (also `value`) cannot be set.

    Types make the value physically read-only if they can. Two constants are merged iff their
    `signature()` are equal. number: the value as a Python number if it is one, else None.
    """

    __slots__ = ("_data", "number", "_element", "_signature")

    head = CONSTANT
    owner: Apply | None
    index: int | None
    _data: Any
    number: Any
    _element: Any
    _signature: Any

    def __new__(cls, type: Any = None, *args: Any, **options: Any) -> Constant:
        """Return a constant of the class that its type uses."""
        own = cls if type is None or cls is not Constant else type.constant_type
        return object.__new__(own)  # type: ignore[no-any-return]

    def __init__(self, type: Type, data: Any, name: str | None = None) -> None:
        self.type = type
        self.owner = None
        self.index = None
        self.name = name
        self._data = data
        self.number = self._element = self.as_number()
        self._signature = None

    @property
    def data(self) -> Any:
        """Value of the constant."""
        return self._data

    @data.setter
    def data(self, value: Any) -> None:
        raise ReadOnlyError(f"{describe(self)} cannot be changed: make another constant")

    value = data

    def as_number(self) -> Any:
        """Return the value as a Python number if it is a single one, else None (cached as
        `number`).
        """
        return self.data if isinstance(self.data, int | float | complex) else None

    @property
    def element(self) -> Any:
        """Return the number that all elements equal; None if they differ, or there are none."""
        if self._element is None:
            self._element = self.type.element_of(self.data)
        return None if self._element is NO_NUMBER else self._element

    def signature(self) -> Any:
        """Return a hashable key, which is equal iff type and content are equal.

        Types refine it for their values.
        """
        if self._signature is None:
            try:
                hash(self.data)
                content: Any = prop_key(self.data)
            except TypeError:
                content = id(self)
            self._signature = (self.type, content)
        return self._signature

    def equals(self, other: Any) -> bool:
        """Return whether another variable is a constant with the same type and content."""
        return isinstance(other, Constant) and self.signature() == other.signature()

    def clone(self, name: str | None = None) -> Any:
        """Return a constant of the same type that shares this one's value."""
        copy = self.__class__.__new__(self.__class__)
        Constant.__init__(copy, self.type, self.data, self.name if name is None else name)
        _copy_tag(self, copy)
        return copy

    def __str__(self) -> str:
        if self.name is not None:
            return self.name
        return f"{type(self).__name__}{{{self.value_text()}}}"

    def value_text(self) -> str:
        """Return the value as text: in full if it is short, else a summary and a digest of the
        content. Two constants of a type have the same text iff they are equal.
        """
        text = self.exact_text()
        if text is not None and len(text) <= SHORT and "\n" not in text:
            return text
        from hashlib import blake2b  # (few terms need it)

        digest = blake2b(repr(self.signature()[1:]).encode(), digest_size=3).hexdigest()
        return f"{self.summary()}#{digest}"

    def exact_text(self) -> str | None:
        """Return the value in full; None if that is too long."""
        return str(self.data)

    def summary(self) -> str:
        """Return the kind of the value in a word."""
        return type(self.data).__name__

    def __getstate__(self) -> Any:
        return {s: getattr(self, s) for s in ("type", "name", "_tag", "data")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        Constant.__init__(self, state["type"], state["data"], state["name"])
        if state["_tag"] is not None:
            self._tag = state["_tag"]


def variables(what: str, given: Sequence[Any], **about: Any) -> tuple[Variable, ...]:
    """Return the arguments as a tuple if all are variables; otherwise raise `ForeignObjectError`
    about the first that is not. what: a name such as "input {}", completed with the index. about:
    as in `message`.
    """
    if isinstance(given, Variable):
        text = f"expected a list of variables ({what.format(0)}, …), not {describe(given)}"
        raise ForeignObjectError(message(text, **about))
    for i, x in enumerate(given):
        if not isinstance(x, Variable):
            text = f"{what.format(i)} is not a variable: {describe(x)}"
            raise ForeignObjectError(message(text, **about))
    return tuple(given)


class Apply(Tagged):
    """Node of a graph, an op applied to inputs: `outputs = op(*inputs)`.

    inputs, outputs: sequences of variables (stored as tuples). An output without an owner becomes
    this node's. Raises `ForeignObjectError` for anything but variables. A node may be in several
    graphs, until one of them changes it: graphs store nothing on nodes.
    """

    __slots__ = ("op", "inputs", "outputs", "origin", "__weakref__")

    op: Any
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    origin: Origin | None

    def __init__(self, op: Op, inputs: Sequence[Variable], outputs: Sequence[Variable]) -> None:
        self.op = op
        self.inputs = variables("input {}", inputs, op=op)
        self.outputs = variables("output {}", outputs, op=op, inputs=self.inputs)
        self.origin = applied_origin()
        for i, (out, head) in enumerate(zip(self.outputs, heads_of(op, len(self.outputs)))):
            if out.owner is not None and (out.owner is not self or out.index != i):
                what = f"output {i} already belongs to another node"
                raise ForeignObjectError(message(what, op=op, inputs=self.inputs))
            out.owner, out.index, out.head = self, i, head

    @property
    def _tag(self) -> SimpleNamespace | None:
        """Tag of the node, stored with the first output because few nodes have one."""
        return self.outputs[0]._node_tag if self.outputs else None

    @_tag.setter
    def _tag(self, value: SimpleNamespace | None) -> None:
        self.outputs[0]._node_tag = value

    def set_op(self, op: Op) -> None:
        """Set another op that computes the same values of the same types. Only the node's graph
        does this (`FunctionGraph.exchange`).
        """
        self.op, outputs = op, self.outputs
        for out, head in zip(outputs, heads_of(op, len(outputs))):
            out.head = head

    def get_parents(self) -> list[Variable]:
        """Return the inputs as a list."""
        return list(self.inputs)

    @property
    def nin(self) -> int:
        return len(self.inputs)

    @property
    def nout(self) -> int:
        return len(self.outputs)

    @property
    def out(self) -> Variable:
        """Default output. Raises `AttributeError` if there are several outputs and no default."""
        if len(self.outputs) != 1 and self.op.default_output is None:
            raise AttributeError(f"{self.op} has {len(self.outputs)} outputs: use `outputs`")
        return self.default_output()  # type: ignore[no-any-return]

    def default_output(self) -> Any:
        """Return the output that `op(...)` returns when it returns one."""
        if len(self.outputs) == 1:
            return self.outputs[0]
        if self.op.default_output is None:
            raise ValueError(f"{self.op} has {len(self.outputs)} outputs and no default_output")
        return self.outputs[self.op.default_output]

    def where(self) -> tuple[str, int] | None:
        """User's (file, line) that built this node."""
        return origin_line(self.origin)

    def dprint(self, **options: Any) -> Any:
        """Print what the outputs are computed from, as a tree; options as of `dprint`."""
        return hooks.dprint(self, **options)

    def clone(self) -> Apply:
        """Return a node with the same op and inputs, and new outputs."""
        return self.clone_with_new_inputs(self.inputs, strict=True)

    __copy__ = clone

    def clone_with_new_inputs(self, inputs: Sequence[Variable], strict: bool = True) -> Apply:
        """Return a node with the same op on other inputs.

        If the types of the inputs differ, `op.make_node` types the outputs anew. strict: inputs of
        another type are first converted with `filter_variable` (`TypeMismatchError` if that fails).
        """
        inputs = list(inputs)
        remake = False
        for i, (old, new) in enumerate(zip(self.inputs, inputs, strict=True)):
            if old.type is new.type or old.type == new.type:
                continue
            if strict and not old.type.is_super(new.type):
                inputs[i] = old.type.filter_variable(new)
            remake = True
        if not remake:
            return copied(self, tuple(inputs))
        node: Apply = self.op.make_node(*inputs)
        node.origin = self.origin
        return _marked(self, node)

    def __str__(self) -> str:
        return f"{self.op}({', '.join(map(str, self.inputs))})"

    def __repr__(self) -> str:
        return str(self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        from rewrite_engine.graph.columns import flat

        return flat(self)

    def __setstate__(self, state: Any) -> None:
        self.origin, marks = state
        for out, its in zip(self.outputs, marks, strict=True):
            mark(out, *its)


_new = object.__new__


def build_variable(
    op: Op, inputs: tuple[Any, ...], out_type: Any, origin: Origin | None = None
) -> Any:
    """Allocate a node with one output and return that output.

    Performs no checks: callers know their types.
    """
    node = _new(Apply)
    out = _new(out_type.variable_type)
    node.op = op
    node.inputs = inputs
    node.outputs = (out,)
    node.origin = origin
    out.type = out_type
    out.owner = node
    out.index = 0
    out.name = None
    out.head = op
    return out


def build_node(
    op: Op, inputs: tuple[Any, ...], out_types: tuple[Any, ...], origin: Origin | None = None
) -> Apply:
    """Allocate a node with any number of outputs. Performs no checks."""
    if len(out_types) == 1:
        return build_variable(op, inputs, out_types[0], origin).owner  # type: ignore[no-any-return]
    node = _new(Apply)
    node.op = op
    node.inputs = inputs
    node.origin = origin
    outputs = []
    for i, (out_type, head) in enumerate(zip(out_types, heads_of(op, len(out_types)))):
        out = _new(out_type.variable_type)
        out.type, out.owner, out.index, out.head = out_type, node, i, head
        out.name = None
        outputs.append(out)
    node.outputs = tuple(outputs)
    return node


def copied(node: Apply, inputs: tuple[Any, ...]) -> Apply:
    """Return a node with the same op on other inputs of the same types."""
    outputs = node.outputs
    if len(outputs) == 1 and outputs[0]._tag is None is outputs[0]._node_tag:  # nearly every node
        out = build_variable(node.op, inputs, outputs[0].type, node.origin)
        out.name = outputs[0].name
        return out.owner  # type: ignore[no-any-return]
    copy = build_node(node.op, inputs, tuple([v.type for v in outputs]), node.origin)
    return _marked(node, copy)


def _marked(node: Apply, copy: Apply) -> Apply:
    """Copy the tags of a node, and the names of its outputs, to a copy that has none."""
    for old, new in zip(node.outputs, copy.outputs, strict=True):
        new.name = old.name if new.name is None else new.name
        _copy_tag(old, new)
    _copy_tag(node, copy)
    return copy


def mark(v: Variable, name: str | None, tag: Any, node_tag: Any) -> None:
    """Give a variable a name and tags."""
    v.name = name
    if tag is not None:
        v._tag = tag
    if node_tag is not None:
        v._node_tag = node_tag


def _copy_tag(old: Tagged, new: Tagged) -> None:
    if old._tag is not None:
        new._tag = SimpleNamespace(**vars(old._tag))
