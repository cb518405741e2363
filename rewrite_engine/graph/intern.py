"""Interning: the metaclass of types and ops keeps one instance of equal values.

A class that lists its defining attributes in `__props__` gets equality by value at the price of
identity: constructing an equal instance returns the existing one. `==`, `hash` and `is` then agree
and cost nothing, which matchers, hash-consing and type comparison rely on. An instance with other
parameters that would count as equal is an error (`check_twin`). A class without `__props__`
compares by identity; a class that defines `__eq__` itself is left alone.
"""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Callable, Iterable
from inspect import getattr_static, signature
from typing import TYPE_CHECKING, Any
from zlib import crc32

from rewrite_engine import hooks
from rewrite_engine.errors import PropsError, describe
from rewrite_engine.graph.origin import located
from rewrite_engine.graph.weak import WeakValues

_interned: WeakValues[Any, Any] = WeakValues()
_identity_eq: Any = object.__eq__


class Interned(ABCMeta):
    """Metaclass: an instance with `__props__` equal to an existing one *is* that one.

    A class with its own `__eq__` and no `__hash__` hashes by class, so that its instances may be
    keys. Classes may also inherit from abstract classes; `isinstance` is as fast as for other
    classes.
    """

    _ours: bool  # whether it is a class of this library
    _says_all: bool  # whether instances with equal keys are equal, whatever else they keep

    def __new__(
        mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **kw: Any
    ) -> Any:
        if "__eq__" in namespace:
            namespace.setdefault("__hash__", lambda self: hash(type(self)))
        ours = namespace.get("__module__", "").startswith("rewrite_engine.")
        if "c_code" in namespace and not ours:
            bases = hooks.with_c_code(bases, namespace)
        namespace["_ours"] = ours
        namespace["_says_all"] = ours or "__props__" in namespace
        return super().__new__(mcs, name, bases, namespace, **kw)

    def adapted(cls, name: str, value: Any) -> Iterable[tuple[str, Any]]:
        """Convert an attribute of a class body, or one that is set later, to pairs of names and
        values. Classes override this to read the conventions of other libraries.
        """
        return [(name, value)]

    def __setattr__(cls, name: str, value: Any) -> None:
        """Set an attribute of the class, in its converted form (`adapted`)."""
        check_props(cls.__name__, name, value)
        for key, form in cls.adapted(name, value):
            super().__setattr__(key, form)

    def register(cls, subclass: Any) -> Any:
        """Let a class count as a subclass of this one and of its base classes."""
        for base in cls.__mro__:
            if type(base) is Interned and not issubclass(subclass, base):
                base.__class__ = _Registering
        return super().register(subclass)

    if not TYPE_CHECKING:  # to a checker a call makes an instance, by `__init__`
        __instancecheck__ = type.__instancecheck__
        __subclasscheck__ = type.__subclasscheck__

        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            for x in (*args, *kwargs.values()):
                hook = getattr(type(x), "__apply_class__", None)
                if hook is not None:  # a parameter is a logic variable: this is a pattern
                    return hook(cls, args, kwargs)
            instance = super().__call__(*args, **kwargs)
            found = intern(instance)
            if found is not instance and not cls._ours:
                check_twin(found, instance, args, kwargs)
            return found


def check_props(where: str, name: str, value: Any) -> None:
    """Raise `PropsError` if a class attribute `__props__` is not a tuple of names (or None, or a
    property).
    """
    if name != "__props__" or value is None or hasattr(type(value), "__get__"):
        return
    if isinstance(value, tuple) and all([isinstance(one, str) for one in value]):
        return
    what = f"{where}: its __props__ must be a tuple of names, not {describe(value)}"
    hint = "a tuple of one name needs a comma" if isinstance(value, str) else None
    raise PropsError(located(what, hint=hint))


def intern(instance: Any) -> Any:
    """Return the representative of all instances with this class and these `__props__`.

    An instance represents itself if its props cannot be hashed or its class has its own `__eq__`;
    also if its class, of a program, inherits `__props__` from a base class and the instance has
    other attributes that differ.
    """
    cls = type(instance)
    if cls.__props__ is None or cls.__eq__ is not _identity_eq:
        return instance
    try:
        key = cls, instance.__key__()
        known = _interned.setdefault(key, instance)
    except TypeError:
        return instance
    if known is instance or cls._says_all or _alike(known, instance):
        return known
    return instance


def check_twin(known: Any, twin: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise `PropsError` if an instance had other arguments than the existing instance that
    represents it: its `__props__` omit a parameter of `__init__`.
    """
    cls, mine, its = type(twin), vars(known), vars(twin)
    others = [k for k, v in its.items() if mine.get(k) is not v and k[:1] != "_"]
    others = [k for k in others if k not in cls.__props__ and not _same(mine.get(k), its[k])]
    if not others:  # nearly always
        return
    try:
        given = signature(cls.__init__).bind(twin, *args, **kwargs)
    except (TypeError, ValueError):  # a metaclass of its own, or the like
        return
    parameters, values = given.signature.parameters, list(given.arguments.items())[1:]
    for attribute in others:
        name = attribute if attribute in parameters else None
        for one, value in values:  # what is kept by another name
            plain = value is None or type(value) is bool or one in its
            name = one if name is None and not plain and its[attribute] is value else name
        if name not in given.arguments:  # not said, as where a term has `__props__`
            continue
        what = f"{cls.__name__}: its __props__ {cls.__props__} leave out {name!r}, which __init__ "
        what += f"takes: there are {mine.get(attribute)!r} and {its[attribute]!r}, and both would "
        hint = "list in __props__ whatever the op (or type) does depends on"
        raise PropsError(located(f"{what}be one", hint=hint))


def _alike(one: Any, other: Any) -> bool:
    """Return whether two instances have equal attributes, except for caches."""
    mine, its = [{k: v for k, v in vars(x).items() if k[:1] != "_"} for x in (one, other)]
    return mine.keys() == its.keys() and all([_same(v, its[k]) for k, v in mine.items()])


def _same(a: Any, b: Any) -> bool:
    """Return whether two values are equal; sequences and arrays are compared by elements."""
    if a is b or type(a) is not type(b):
        return a is b
    try:
        return bool((a == b).all() if hasattr(a, "all") else prop_key(a) == prop_key(b))
    except Exception:
        return False


def prop_key(value: Any) -> Any:
    """Return a key under which 1, 1.0, True and -0.0 differ (plain equality would merge them)."""
    cls = type(value)
    if cls is str or value is None or isinstance(cls, Interned):
        return value
    if isinstance(value, tuple):
        return tuple([prop_key(v) for v in value])
    if isinstance(value, float):
        return (cls, value.hex())
    if isinstance(value, complex):
        return (cls, value.real.hex(), value.imag.hex())
    return cls, value


def hash_of(instance: Any) -> int:
    """Hash an instance by its class and `__props__`. The hash is the same in every process in which
    the hashes of the props are, and for an equal instance made after this one is deleted.
    """
    cls = type(instance)
    if cls.__props__ is None or cls.__eq__ is not _identity_eq:
        return object.__hash__(instance)
    values = tuple([getattr(instance, name) for name in cls.__props__])
    try:
        return hash((stable_hash(cls), stable_hash(values)))
    except TypeError:  # as `intern`: it is equal to itself alone
        return object.__hash__(instance)


def stable_hash(value: Any) -> int:
    """Hash a property without the addresses of classes and of None, which differ from run to run.

    Numbers -1 and -2, whose own hashes are equal, have different ones.
    """
    if type(value) is int:
        return hash(3 * value)
    if value is None:
        return 1
    if isinstance(value, type):
        return crc32(f"{value.__module__}.{value.__qualname__}".encode())
    if isinstance(value, tuple):
        return hash(tuple([stable_hash(v) for v in value]))
    return hash(value)


def rebuild(cls: type, state: dict[str, Any]) -> Any:
    """Unpickle or copy an interned instance; equal instances become one object again."""
    instance: Any = object.__new__(cls)
    instance.__dict__.update(state)
    return intern(instance)


class _Registering(Interned):
    """Metaclass of classes with registered subclasses that do not inherit from them."""

    __instancecheck__ = ABCMeta.__instancecheck__
    __subclasscheck__ = ABCMeta.__subclasscheck__


class Record(metaclass=Interned):
    """Common base of `Type` and `Op`: interning, a text from `__props__`, copying and pickling."""

    __props__: tuple[str, ...] | None = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        plain = [base for base in cls.__mro__[1:-1] if not isinstance(base, Interned)]
        mixed = [(name, value) for base in plain for name, value in vars(base).items()]
        mixed = [pair for pair in mixed if getattr_static(cls, pair[0], None) is pair[1]]
        for name, value in [*mixed, *vars(cls).items()]:
            check_props(cls.__name__, name, value)
            for key, form in cls.adapted(name, value):
                if key != name or form is not value:
                    type.__setattr__(cls, key, form)

    def __str__(self) -> str:
        if not self.__props__:
            return type(self).__name__
        parts = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__props__)
        return f"{type(self).__name__}{{{parts}}}"

    def __repr__(self) -> str:
        return str(self)

    def __hash__(self) -> int:
        """Return the hash of the class and the `__props__`; without `__props__`, the hash of the
        object.
        """
        try:
            return self._hash
        except AttributeError:  # only once: it never changes
            self._hash = hash_of(self)
            return self._hash

    _hash: int

    def __key__(self) -> tuple[Any, ...]:
        """Return the values of the `__props__`, which equal instances of a class share."""
        return tuple([prop_key(getattr(self, name)) for name in self.__props__ or ()])

    def _props_dict(self) -> dict[str, Any]:
        """Return {name: value} of the `__props__`, for programs written for PyTensor."""
        return {name: getattr(self, name) for name in self.__props__ or ()}

    def __state__(self) -> dict[str, Any]:
        """Return the attributes to pickle (without caches, whose names start with `_`)."""
        return {k: v for k, v in self.__dict__.items() if not k.startswith("_")}

    def __reduce__(self) -> Any:
        return rebuild, (type(self), self.__state__())

    def __copy__(self) -> Any:
        return self if self.__props__ is not None else rebuild(type(self), self.__state__())

    def __deepcopy__(self, memo: Any) -> Any:
        return self.__copy__()


def _keys(any_order: bool) -> Callable[[Any, tuple[Any, ...]], Any]:
    def key(node: Any, inputs: tuple[Any, ...]) -> Any:
        op = node.op
        n = len(inputs)
        if n < 2 or not op.commutative:
            return op, inputs
        if n == 2:
            a, b = inputs
            return op, inputs if id(a) <= id(b) else (b, a)
        if op.associative and (any_order or node.outputs[0].type.regroups_exactly):
            return op, tuple(sorted(inputs, key=id))
        return op, inputs

    return key


#: `key_of(node, inputs)`: what two nodes have in common iff they are equal terms; `inputs` are what
#: `node` has, or will have. The order of two operands that commute does not count. That of more
#: counts where values depend on how they are grouped: in sums of floats.
key_of = _keys(any_order=False)
#: the same where sums of floats may be regrouped: the order of operands never counts
key_in_any_order = _keys(any_order=True)
