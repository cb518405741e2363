"""Sorts of tensors: rank, lengths, names for lengths, facts."""

import warnings
from typing import Annotated, Any

import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import PatternError
from rewrite_engine.facts import nonneg, same_length
from rewrite_engine.language import *
from rewrite_engine.language import Rewritten
from rewrite_engine.match.explain import diagnose

turn = pt.DimShuffle(2, (1, 0))


@rule(claim=exact)
def same_columns(a: Tensor["n", "m"], b: Tensor["k", "m"]):
    """Two matrices of as many columns."""
    return pt.dot(a, turn(b)) >> pt.dot(pt.identity(a), turn(b))


@rule(claim=exact)
def square_of_three(a: Tensor["n", "n"], v: Tensor[3]):
    """A square matrix and a vector of length 3."""
    return pt.dot(a, v) >> pt.dot(pt.identity(a), v)


@rule(claim=exact)
def root(x: nonneg):
    """A fact as a sort."""
    return pt.sqrt(x) >> pt.identity(x)


asked: list[str] = []


def some_sort(v: Any) -> bool:
    """A predicate as a sort."""
    asked.append("sort")
    return True


A, B, x, y = pt.matrix("A"), pt.matrix("B"), pt.vector("x"), pt.vector("y")


def fires(made: Any, term: Any) -> bool:
    compiled, interpreted = made.transform(None, term.owner), made.interpreted(None, term.owner)
    assert (compiled is None) == (interpreted is None)
    return compiled is not None


def test_names_stand_for_one_length() -> None:
    assert "given same_length(a, 1, b, 1)" in repr(same_columns)
    assert fires(same_columns, pt.dot(A, pt.exp(A).T))
    assert fires(same_columns, pt.dot(A[:2], A.T))
    assert not fires(same_columns, pt.dot(A, B.T))
    known = pt.matrix(shape=(None, 4)), pt.matrix(shape=(5, 4))
    assert fires(same_columns, pt.dot(known[0], known[1].T))


def test_numbers_are_static_lengths() -> None:
    three, square = pt.vector(shape=(3,)), pt.matrix(shape=(3, 3))
    assert fires(square_of_three, pt.dot(square, three))
    assert not fires(square_of_three, pt.dot(A, three))
    assert fires(square_of_three, pt.dot(pt.dot(A, A.T), three))
    assert not fires(square_of_three, pt.dot(square, x))


def test_what_a_sort_is() -> None:
    assert Tensor["n", 3] is Tensor["n", 3]
    assert repr(Tensor["n", None, 2]) == "Tensor['n', None, 2]"
    assert Tensor["n", 2](pt.matrix(shape=(None, 2)))
    assert not Tensor["n", 2](A)
    assert not Tensor["n"](A)
    assert Tensor["n"].tie is same_length
    with pytest.raises(PatternError, match="takes names, lengths and None"):
        Tensor[1.5]


def test_a_fact_as_a_sort() -> None:
    assert repr(root).endswith("sqrt(x) -> identity(x), given nonneg(x)")
    assert fires(root, pt.sqrt(pt.exp(x)))
    assert not fires(root, pt.sqrt(x))


def test_guards_are_asked_cheap_ones_first() -> None:
    asked.clear()

    @fact
    def dear(v: Any) -> Any:
        asked.append("dear")
        return because("it is")

    @fact(cost=2)
    def fair(v: Any) -> Any:
        asked.append("fair")
        return because("it is")

    def free(x: Any) -> bool:
        asked.append("free")
        return x.name == "x"

    @rule
    def ordered(x: some_sort, y: Inexact):
        """Guards of all kinds."""
        return pt.maximum(x, pt.exp(y)) >> x, given(dear(x), fair(x), free)

    x, y = pt.scalars("x y")  # (of vectors, y may not fit x)
    for apply in (ordered.apply, ordered.interpreted):
        asked.clear()
        assert apply(None, pt.maximum(x, pt.exp(y)).owner) is x
        assert asked == ["sort", "free", "fair", "dear"]
        asked.clear()
        assert apply(None, pt.maximum(y, pt.exp(x)).owner) is None
        assert asked == ["sort", "free"]
    ordered.apply(None, pt.maximum(x, pt.sin(y)).owner)
    assert "dear" not in asked  # the shape is wrong: no fact is asked


def refused(fn: Any, *parts: str, make: Any = rule) -> None:
    """The rule cannot be built; the message starts with its name and line, and has the parts."""
    with pytest.raises(PatternError) as info:
        make(fn)
    text = str(info.value)
    assert text.startswith(f"rule test_sorts/{fn.__name__} ({__file__}:")
    for part in parts:
        assert part in text


def test_a_sort_that_fixes_a_rank_lets_dimensions_be_turned() -> None:
    @rule(claim=exact)
    def turned(a: Matrix, b: Tensor["n", "m", 3]):
        """However it is written, it is the op with its parameters."""
        both = pt.exp(a.T) + a.dimshuffle(1, 0) + pt.swapaxes(a, 0, 1) + pt.exp(a).mT
        return pt.dot(both, pt.stack([pt.sum(b, axis=0), pt.transpose(b, (2, 0, 1))[0]])[0]) >> (
            pt.dot(a.T, pt.cumsum(b, axis=-1)[0])
        )

    turn_text = "Transpose{axes=[1, 0]}"
    assert turned.text.count(f"{turn_text}(a)") == 4
    assert f"{turn_text}(exp(a))" in turned.text
    assert "CumOp{axis=2, mode='add'}(b)" in turned.text

    @rule(claim=exact)
    def twice(a: Matrix):
        """Turned twice is as it was."""
        return pt.exp(pt.exp(a).T) >> pt.exp(pt.exp(a.T))

    term = pt.exp(pt.exp(A).T)
    assert fires(twice, term)
    assert repr(Rewritten(twice.transform(None, term.owner))) == f"exp(exp({turn_text}(A)))"
    assert not fires(twice, pt.exp(pt.exp(A)))


def test_without_a_rank_the_way_out_is_told() -> None:
    def unranked(a: Inexact):
        """Its rank is not known."""
        return pt.exp(a.T) >> pt.exp(a)

    refused(unranked, "the rank of a is not known", "Scalar, Vector, Matrix", "DimShuffle(2, (1, 0")

    def averaged(a: Inexact):
        """A mean is made of what the type says."""
        return pt.exp(pt.mean(a)) >> pt.exp(pt.sum(a))

    refused(averaged, "the rank of a is not known", "pt.Sum()(a) / pt.cast(")

    def equal(a: Inexact):
        """So it is in equations."""
        return pt.exp(pt.var(a)), pt.sqrt(pt.exp(a.sum()))

    refused(equal, "the rank of a is not known", make=equation)


def test_what_never_fits_is_refused() -> None:
    def no_axis(a: Scalar):
        """A number has no second axis."""
        return pt.Sum(axis=1)(a) >> a

    refused(no_axis, "no such term can be built from these sorts", "axis")

    def shrinks(a: Matrix):
        """A matrix is no number."""
        return pt.exp(a) >> pt.dot(a, a).sum()

    refused(shrinks, "the left side has rank 2 and the right side 0: this can never fit")

    def no_third(a: Tensor["n", 3]):
        """A matrix has two axes."""
        return pt.exp(a) >> pt.cumsum(a, axis=0) + pt.Sum(axis=2)(a)

    refused(no_third, "no such term can be built from these sorts")

    def idle(a: Inexact):
        """Nothing comes of it."""
        return pt.exp(a) >> pt.exp(a)

    refused(idle, "both sides are the same: this does nothing")

    def same(a: Vector):
        """Nothing comes of it, either."""
        return pt.sum(a), a.sum()

    refused(same, "both sides are the same", make=equation)


def test_what_may_fit_is_accepted() -> None:
    @rule(claim=exact)
    def by_mask(m: Vector):
        """A mask chooses; of other dtypes there is no such term."""
        return pt.invert(pt.invert(m)) >> m

    @rule(claim=exact)
    def at_index(a: Matrix, i: Scalar):
        """Operands of several dtypes: no sample is right for both."""
        return pt.exp(a[i]) >> pt.exp(a)[i]

    @rule(claim=exact)
    def any_rank(a: Inexact):
        """May be of rank 0."""
        return pt.exp(a) >> pt.sum(pt.exp(a))

    assert fires(any_rank, pt.exp(pt.scalar("s")))
    assert fires(at_index, pt.exp(A[pt.iscalar("i")]))
    assert fires(by_mask, pt.invert(pt.invert(pt.tensor("m", dtype="bool", shape=(None,)))))


# --- several sorts of one variable --------------------------------------------------------------


@rule(claim=exact)
def abs_of_real(x: Annotated[Float, nonneg]):
    """A sort and a fact."""
    return pt.abs(x) >> x


@rule(claim=exact)
def matrix_of_three_columns(a: Annotated[Matrix, Tensor["n", 3], Float]):
    """A rank, a length and a kind."""
    return pt.dot(a, turn(a)) >> pt.dot(pt.identity(a), turn(a))


def test_all_sorts_of_a_variable_have_to_hold() -> None:
    x, i = pt.dvector("x"), pt.ivector("i")
    assert fires(abs_of_real, pt.abs(pt.exp(x)))
    assert not fires(abs_of_real, pt.abs(x))
    assert not fires(abs_of_real, pt.abs(pt.sqr(i)))
    three, any_length = pt.tensor("a", "float64", (None, 3)), pt.dmatrix("b")
    whole = pt.tensor("c", "int64", (None, 3))
    for a, fits in ((three, True), (any_length, False), (whole, False)):
        assert fires(matrix_of_three_columns, pt.dot(a, turn(a))) is fits


def test_lengths_of_several_sorts_are_tied() -> None:
    @rule(claim=exact)
    def square(a: Annotated[Float, Tensor["n", "n"]]):
        """Square matrices."""
        return pt.exp(a) >> pt.exp(pt.identity(a))

    assert fires(square, pt.exp(pt.tensor("a", "float64", (2, 2))))
    assert not fires(square, pt.exp(pt.dmatrix("a")))


def test_sorts_that_exclude_each_other_are_refused() -> None:
    with pytest.raises(PatternError, match="no variable is Matrix and Vector"):

        @rule
        def nothing(a: Annotated[Matrix, Vector]):
            """Nothing is both."""
            return pt.exp(a) >> a


def test_two_facts_are_guards() -> None:
    with pytest.raises(PatternError, match="a sort has one fact"):

        @rule
        def both_facts(a: Annotated[nonneg, same_length]):
            """Guards are for that."""
            return pt.exp(a) >> a


def test_what_has_several_sorts_is_checked() -> None:
    found = rw.check(abs_of_real, only="claims")
    assert "no finding" in str(found)


# --- names of sorts that have changed ------------------------------------------------------------


def test_float_is_real_and_inexact_is_real_or_complex() -> None:
    taken = {
        dtype: [sort(pt.vector(dtype=dtype)) for sort in (Float, Inexact)]
        for dtype in ("float64", "complex128", "int64", "bool")
    }
    assert taken == {"float64": [True, True], "complex128": [False, True],
                     "int64": [False, False], "bool": [False, False]}  # fmt: skip
    one = [pt.constant(1.0), pt.constant(1j), pt.vector("x")]
    assert [FloatConstant(v) for v in one] == [True, False, False]
    assert [InexactConstant(v) for v in one] == [True, True, False]


def test_old_names_of_sorts_work_and_warn_at_the_rule() -> None:
    def of_real(x: Real, c: RealConstant):
        """An old name."""
        return pt.sinh(x) * c >> c * pt.sinh(pt.identity(x))

    with pytest.warns(DeprecationWarning, match="is called") as told:
        made = rule(of_real)
    sorts = [("Real", "Float", "Inexact"), ("RealConstant", "FloatConstant", "InexactConstant")]
    text = "of_real: the sort {0} is called {1} now; where {1} stands for complex numbers, too, "
    text += "write {2}"
    assert [str(one.message) for one in told] == [text.format(*names) for names in sorts]
    assert {(one.filename, one.lineno) for one in told} == {made.where}
    z, v = pt.vector("z", dtype="complex128"), pt.vector("v", dtype="float64")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it never applied to complex numbers
        assert fires(made, pt.sinh(v) * 2.0)
        assert not fires(made, pt.sinh(z) * 2.0)


def test_a_rule_that_lost_complex_numbers_warns_once() -> None:
    @rule(claim=exact)
    def of_float(x: Float):
        """Complex before."""
        return pt.sinh(pt.abs(x)) >> pt.sinh(pt.identity(pt.abs(x)))

    z, v, n = [
        pt.vector(k, dtype=d)
        for k, d in zip("zvn", ("complex128", "float64", "int64"), strict=True)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fires(of_float, pt.sinh(pt.abs(v)))
        assert not fires(of_float, pt.sinh(pt.abs(n)))
        assert not fires(of_float, pt.sinh(pt.exp(z)))  # it would not have applied before
    with pytest.warns(DeprecationWarning, match="means real floats now") as told:
        fired = [fires(of_float, pt.sinh(pt.abs(v))) for v in (z, 2 * z)]
    assert fired == [False, False]
    text = (
        "rule test_sorts/of_float does not apply to sinh(abs(z)): Float means real floats now; "
        "for real and complex floats, which Float meant before, write Inexact"
    )
    assert [str(one.message) for one in told] == [text]
    assert (told[0].filename, told[0].lineno) == of_float.where


def test_a_wider_sort_does_not_warn() -> None:
    @rule(claim=exact)
    def of_inexact(x: Annotated[Inexact, Vector]):
        """Real or complex floats."""
        return pt.sinh(x) >> pt.sinh(pt.identity(x))

    z, n = pt.vector("z", dtype="complex128"), pt.vector("n", dtype="int64")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fires(of_inexact, pt.sinh(z))
        assert not fires(of_inexact, pt.sinh(n))


def test_why_not_names_the_wider_sort() -> None:
    z = pt.vector("z", dtype="complex128")
    why = diagnose(abs_of_real, pt.abs(z).owner, None, str).reason
    assert "x must be Float, nonneg, but z is of type" in why
    assert "(write Inexact, nonneg for these, too)" in why
