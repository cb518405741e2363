"""Values of one kind exist once: the metaclass that types and ops share.

A class that lists its defining attributes in `__props__` gets equality by value for the price of
identity: constructing an equal instance returns the one that exists. `==`, `hash` and `is` then
agree and cost nothing, which is what matchers, hash-consing and type comparison rely on. What was
given other parameters, and would be one, is an error (`check_twin`). A class without `__props__`
compares by identity; one that defines `__eq__` itself is left alone.
"""

from __future__ import annotations

from _weakref import _remove_dead_weakref  # type: ignore[attr-defined]
from abc import ABCMeta
from collections.abc import Callable
from inspect import signature
from typing import TYPE_CHECKING, Any
from weakref import KeyedRef

from rewrite_engine.errors import PropsError
from rewrite_engine.graph.origin import located

#: without a lock, which Ctrl-C could leave locked: each step is atomic
_interned: dict[Any, KeyedRef[Any, Any]] = {}
_identity_eq: Any = object.__eq__


class Interned(ABCMeta):
    """Metaclass: an instance with `__props__` equal to an existing one *is* that one.

    A class with its own `__eq__` and no `__hash__` hashes by class, so that its instances may be
    keys. Classes may inherit from abstract ones, too; `isinstance` is as fast as of all others.
    """

    _ours: bool  # whether it is a class of this library

    def __new__(
        mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **kw: Any
    ) -> Any:
        if "__eq__" in namespace:
            namespace.setdefault("__hash__", lambda self: hash(type(self)))
        ours = namespace.get("__module__", "").startswith("rewrite_engine.")
        namespace["_ours"] = ours
        namespace["_says_all"] = ours or "__props__" in namespace
        return super().__new__(mcs, name, bases, namespace, **kw)

    def register(cls, subclass: Any) -> Any:
        """Let a class count as a subclass of this one, and of those above it."""
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


def intern(instance: Any) -> Any:
    """Return the instance that stands for all with this class and these `__props__`.

    An instance whose props cannot be hashed, or whose class has its own `__eq__`, stands for
    itself; so does one of a program's class that takes its `__props__` from a base, and has other
    attributes beside equal ones.
    """
    cls = type(instance)
    if cls.__props__ is None or cls.__eq__ is not _identity_eq:
        return instance
    try:
        key = cls, instance.__key__()
        known = _first_with(key, instance)
    except TypeError:
        return instance
    if known is instance or cls._says_all or _alike(known, instance):
        return known
    return instance


def check_twin(known: Any, twin: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise `PropsError` if an instance that another one is to stand for was given something else:
    its `__props__` leave a parameter of `__init__` out.
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


def _first_with(key: Any, instance: Any) -> Any:
    """The living instance that first had this key: this one, if there is none."""
    there = _interned.get(key)
    known = None if there is None else there()
    if known is None:
        mine = KeyedRef(instance, _forget, key)
        while (known := _interned.setdefault(key, mine)()) is None:
            _remove_dead_weakref(_interned, key)
    return known


def _forget(dead: KeyedRef[Any, Any]) -> None:
    _remove_dead_weakref(_interned, dead.key)  # (unless another one took its place)


def _alike(one: Any, other: Any) -> bool:
    """Whether two instances have equal attributes, but for caches."""
    mine, its = [{k: v for k, v in vars(x).items() if k[:1] != "_"} for x in (one, other)]
    return mine.keys() == its.keys() and all([_same(v, its[k]) for k, v in mine.items()])


def _same(a: Any, b: Any) -> bool:
    """Whether two values are equal; by their elements, if they have some."""
    if a is b or type(a) is not type(b):
        return a is b
    try:
        return bool((a == b).all() if hasattr(a, "all") else prop_key(a) == prop_key(b))
    except Exception:
        return False


def prop_key(value: Any) -> Any:
    """A key under which 1, 1.0, True and -0.0 differ (plain equality would merge them)."""
    cls = type(value)
    if cls is str or value is None or type(cls) is Interned:
        return value
    if isinstance(value, tuple):
        return tuple([prop_key(v) for v in value])
    if isinstance(value, float):
        return (cls, value.hex())
    if isinstance(value, complex):
        return (cls, value.real.hex(), value.imag.hex())
    return cls, value


def rebuild(cls: type, state: dict[str, Any]) -> Any:
    """Unpickle or copy an interned instance: equal ones are one object again."""
    instance: Any = object.__new__(cls)
    instance.__dict__.update(state)
    return intern(instance)


class _Registering(Interned):
    """The type of classes that count others, which do not inherit from them, as subclasses."""

    __instancecheck__ = ABCMeta.__instancecheck__
    __subclasscheck__ = ABCMeta.__subclasscheck__


class Record(metaclass=Interned):
    """What `Type` and `Op` share: interning, a text from `__props__`, copying and pickling."""

    __props__: tuple[str, ...] | None = None

    def __str__(self) -> str:
        if not self.__props__:
            return type(self).__name__
        parts = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__props__)
        return f"{type(self).__name__}{{{parts}}}"

    def __repr__(self) -> str:
        return str(self)

    def __key__(self) -> tuple[Any, ...]:
        """What equal instances of a class have in common: their `__props__`."""
        return tuple([prop_key(getattr(self, name)) for name in self.__props__ or ()])

    def _props_dict(self) -> dict[str, Any]:
        """{name: value} of the `__props__`, as PyTensor's programs ask for them."""
        return {name: getattr(self, name) for name in self.__props__ or ()}

    def __state__(self) -> dict[str, Any]:
        """The attributes to keep when pickled (not caches, whose names start with `_`)."""
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
