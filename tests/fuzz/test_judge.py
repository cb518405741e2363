"""What the fuzzer's judge takes for wrong, and what it does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mpmath import mp

import rewrite_engine.tensor as pt
from fuzz import graphs
from rewrite_engine.judge.whole_excuses import WholeElement, judge_element
from tests.fuzz.cases import case, judge_of


def in_float32(x: Any) -> Any:
    """A number, added up."""
    return pt.Sum(axis=(0,), acc_dtype="float32", keepdims=True)(x)


FLAT = np.float32([-17, 0, -100])  # 1 - 4e-8, and 1, by a function that grows to the left


def overflowing_powers(x: Any) -> Any:
    """A number that hangs by the last digit once a logarithm is mended."""
    log = pt.log(1 - pt.sigmoid(x))
    return (log // x) ** log


def guarded_logarithm(x: Any) -> Any:
    log = pt.log(1 - pt.exp(x) / (1 + pt.exp(x)))
    return pt.switch(pt.isnan(log), 0.0, log)


def powers_of_log_of_square(x: Any) -> Any:
    """A number that overflows on the way once the logarithm is mended."""
    log = pt.log(x * x)
    return 0.5 / (log**4 / log)


def far_away(x: Any) -> Any:
    """The logarithm of a number of 1,500 digits."""
    return pt.log(1 - pt.sigmoid(x / pt.exp(x) * pt.exp(x) + x + x + x))


def log_of_square_of_log(x: Any) -> Any:
    """Two logarithms, the inner one of what is almost 1."""
    return pt.log(pt.sqr(pt.log(pt.exp(x) / (1 + pt.exp(x)))))


def log_of_squares_over(x: Any) -> Any:
    """A logarithm, divided by 0: infinite."""
    return pt.log(pt.sqr(x) / pt.exp(np.float64(1e3))) // 0


def partly_in_float32(x: Any) -> Any:
    """Exponentials of a logarithm, one of which may get digits that float32 has not."""
    log = pt.log(pt.exp(x) + np.ones(1))
    return pt.exp(log) * pt.exp(-log)


@pytest.mark.parametrize(("found", "is_told"), [(-np.inf, False), (np.nan, False), (1e10, True)])
def test_what_overflows_and_is_equal_up_to_its_last_digit(found: float, is_told: bool) -> None:
    """The difference of two exponentials whose arguments are equal in float32, not in truth."""
    given = np.float32([100.0]), np.float32([3.783505853677006e-44])
    one = case(lambda x, y: pt.log(pt.exp(x) - pt.exp(x * (1 + y))), *given)
    finding = judge_of(one).compare([np.float32([found])])
    assert (finding is not None) is is_told


@pytest.mark.parametrize(("found", "is_told"), [(0.0, False), (3.0, True)])
def test_a_zero_that_stays_one_is_no_pole(found: float, is_told: bool) -> None:
    """log(0 / exp(x)) is infinite for any x, so that its exponential is 0 at the limit, too."""
    one = case(
        lambda x, y: pt.exp(pt.log(y / pt.exp(x))) * pt.exp(x), np.array([np.inf]), np.zeros(1)
    )
    finding = judge_of(one).compare([np.array([found])])
    assert (finding is not None and finding.severity > 0) is is_told


@pytest.mark.parametrize(("found", "is_told"), [(2.0, False), (3.0, True)])
def test_a_pole_that_comes_of_another_is_none(found: float, is_told: bool) -> None:
    """1 / x is infinite, its exponential 0, and what is divided by that infinite again."""
    one = case(lambda x: 2 / pt.exp(-1 / x) * pt.exp(-1 / x), np.zeros(1))
    finding = judge_of(one).compare([np.array([found])])
    assert (finding is not None and finding.severity > 0) is is_told


@pytest.mark.parametrize(("than", "is_told"), [(0.0, False), (2.0, True)])
def test_what_limits_lead_to(monkeypatch: Any, than: float, is_told: bool) -> None:
    """NaN may become the limit, and is compared as that then."""
    values = np.array([-np.inf])
    one = case(lambda x: pt.exp(x) / pt.exp(x) > than, values)
    finding = judge_of(one).compare([np.array([True])])
    assert finding is not None
    assert (finding.severity > 0) is is_told


@pytest.mark.parametrize(("than", "is_told"), [(0.0, False), (2.0, True)])
def test_what_limits_at_poles_lead_to(monkeypatch: Any, than: float, is_told: bool) -> None:
    values = np.array([0.0])
    one = case(lambda x: pt.exp(pt.log(x)) / pt.exp(pt.log(x)) > than, values)
    finding = judge_of(one).compare([np.array([True])])
    assert finding is not None
    assert (finding.severity > 0) is is_told


@pytest.mark.parametrize(("found", "is_told"), [(1.0, False), (2.0, True)])
def test_what_vanishes_has_a_limit(found: float, is_told: bool) -> None:
    one = case(lambda x: pt.erfc(x) / pt.erfc(x), np.array([np.inf]))
    finding = judge_of(one).compare([np.array([found])])
    assert finding is not None
    assert (finding.severity > 0) is is_told


@pytest.mark.parametrize(("found", "is_told"), [(1.0, False), (2.0, True)])
def test_a_limit_beyond_a_negative_zero(found: float, is_told: bool) -> None:
    """1 / x is -0, of which floating point has a logarithm; small negative numbers have none."""
    one = case(lambda x: pt.exp(pt.log(1 / x)) * pt.exp(-pt.log(1 / x)), np.array([-np.inf]))
    finding = judge_of(one).compare([np.array([found])])
    assert finding is not None
    assert (finding.severity > 0) is is_told


@pytest.mark.parametrize(("found", "is_told"), [(-np.pi, False), (0.0, False), (3.0, True)])
def test_a_limit_beside_an_angle_of_zeros(found: float, is_told: bool) -> None:
    """The angle of two negative zeros is -pi, of zeros without sign none."""
    given = np.array([-0.0, -0.0]), np.array([0.0, np.inf])

    def over(x: Any, y: Any) -> Any:
        p = pt.exp(y) / pt.exp(y).sum()
        return pt.arctan2(x, x) / p * p

    one = case(over, *given)
    finding = judge_of(one).compare([np.array([found, np.nan])])
    assert finding is not None
    assert (finding.severity > 0) is is_told


@pytest.mark.parametrize(("other", "is_told"), [(np.nan, False), (2.0, True)])
def test_a_limit_may_choose_nan(other: float, is_told: bool) -> None:
    """NaN > 0 is False; the limit, 1, is larger, so what is there is taken: NaN, or a number."""
    given = np.array([np.inf]), np.array([other])
    one = case(lambda x, y: pt.switch(pt.exp(x) / pt.exp(x) > 0, y, 0.0), *given)
    finding = judge_of(one).compare([np.array([np.nan])])
    assert finding is not None
    assert (finding.severity > 0) is is_told


@pytest.mark.parametrize(("found", "is_told"), [(np.inf, False), (-np.inf, True), (2.0, True)])
def test_what_is_infinite_may_be_so(found: float, is_told: bool) -> None:
    """The square underflows, and 0 * inf is NaN; without it the product is infinite."""
    one = case(
        lambda x, y: pt.sqrt(pt.sqr(x)) * y, np.array([1e-45], "float32"), np.array([np.inf])
    )
    finding = judge_of(one).compare([np.array([found])])
    assert (finding is not None) is is_told


@pytest.mark.parametrize(("size", "is_told"), [(3e38, False), (1e30, True)])
def test_complex_numbers_overflow_beside_the_largest(size: float, is_told: bool) -> None:
    one = case(lambda x: pt.sqr(pt.sqrt(x)), np.array([size + size * 1j], "complex64"))
    wrong = np.array([complex(np.inf, size)], "complex64")
    finding = judge_of(one).compare([wrong])
    assert (finding is not None) is is_told


def test_a_limit_may_lead_to_nan() -> None:
    """x / e * e at infinity is NaN, and its limit infinite: infinity by itself is NaN again."""
    one = case(
        lambda x, e: (lambda q: pt.switch(q > 0, q / q, 0.0))(x / e * e),
        *map(np.array, ([np.inf], [np.inf])),
    )
    finding = judge_of(one).compare([np.array([np.nan])])
    assert finding is not None
    assert finding.severity == 0
    finding = judge_of(one).compare([np.array([7.0])])
    assert finding is not None
    assert finding.severity > 0


@pytest.mark.parametrize(("found", "is_told"), [(-1.0, False), (-2.0, True)])
def test_what_is_divided_by_a_number_that_vanishes_is_no_pole(found: float, is_told: bool) -> None:
    """exp(-inf) is 0, but is smaller and smaller on the way: -1 / exp(x) * exp(x) is -1 there."""
    one = case(lambda x, y: y / pt.exp(x) * pt.exp(x), np.array([-np.inf]), np.array([-1.0]))
    finding = judge_of(one).compare([np.array([found])])
    assert finding is not None
    assert (finding.severity > 0) is is_told


@pytest.mark.parametrize(("found", "is_told"), [(1.0, False), (2.0, True)])
def test_exponentials_of_exponentials_have_limits(found: float, is_told: bool) -> None:
    """No digits hold exp(exp(x)) of a very large x; of a large one they do."""

    def quotient(x: Any) -> Any:
        e = pt.exp(pt.exp(x) - 1)
        return e / (1 + e)

    one = case(quotient, np.array([np.inf]))
    finding = judge_of(one).compare([np.array([found])])
    assert finding is not None
    assert (finding.severity > 0) is is_told


@pytest.mark.parametrize(
    ("factor", "found", "is_told"),
    [
        (lambda x, y: x, np.inf, False),
        (lambda x, y: x, -np.inf, True),
        (lambda x, y: x, 7.0, True),
        (lambda x, y: pt.log(x), np.inf, False),  # slowly
        (lambda x, y: -pt.sqrt(x), -np.inf, False),
        (lambda x, y: y, 2.0, False),
        (lambda x, y: y, np.inf, True),  # does not grow
        (lambda x, y: y + 1 / x, np.inf, True),
        (lambda x, y: y - 1 / x, 2.0, False),
    ],
)
def test_what_grows_without_end_is_infinite(factor: Any, found: float, is_told: bool) -> None:
    """f / exp(exp(x)) * exp(exp(x)) is f, and so is its limit."""

    def quotient(x: Any, y: Any) -> Any:
        e = pt.exp(pt.exp(x) ** 0.235)
        return factor(x, y) / e * e

    one = case(quotient, np.array([np.inf]), np.array([2.0]))
    finding = judge_of(one).compare([np.array([found])])
    assert finding is not None
    assert (finding.severity > 0) is is_told


@pytest.mark.parametrize(("c", "y", "is_told"), [(1, 12, False), (-1, 12, True), (1, 2, True)])
def test_a_limit_may_overflow_where_a_dtype_is_narrow(c: int, y: float, is_told: bool) -> None:
    """c exp(y) exp(-x) exp(x) is c exp(y) at the limit, which float16 does not hold."""
    one = case(
        lambda x, y: pt.cast(c * pt.exp(y), "float16") / pt.exp(x) * pt.exp(x),
        np.array([-np.inf]),
        np.array([float(y)]),
    )
    finding = judge_of(one).compare([np.array([np.inf])])
    assert finding is not None
    assert (finding.severity > 0) is is_told


@pytest.mark.parametrize(("found", "is_told"), [(1.0, False), (2.0, True)])
def test_what_is_divided_by_zero_is_large(found: float, is_told: bool) -> None:
    """1 / 0 is infinite, and the quotient NaN: its limit is 1."""
    one = case(lambda x: pt.exp(1 / x) / pt.exp(1 / x), np.array([0.0]))
    finding = judge_of(one).compare([np.array([found])])
    assert (finding is not None and finding.severity > 0) is is_told


@pytest.mark.parametrize(
    ("given", "found", "is_told"),
    [
        (np.inf, np.inf, False),  # NaN > 0 is False, the limit is larger
        (np.inf, -np.inf, True),
        (np.inf, 2.0, True),
        (np.nan, np.inf, True),
        (5.0, np.inf, True),
    ],
)
def test_what_is_chosen_by_a_limit(given: float, found: float, is_told: bool) -> None:
    def chosen(x: Any) -> Any:
        y = x * (pt.exp(x) / pt.exp(x))
        return pt.log1p(pt.switch(y > 0, y, 1.0))

    one = case(chosen, np.array([given]))
    finding = judge_of(one).compare([np.array([found])])
    assert finding is not None
    assert (finding.severity > 0) is is_told


@pytest.mark.parametrize(("x", "is_told"), [(-6e4, False), (-3e4, True)])
def test_what_overflows_once_it_is_mended_is_infinite(x: float, is_told: bool) -> None:
    """x divided by what underflows on both sides of a bar, and doubled."""
    one = case(lambda x: pt.isinf(x + x / (pt.exp(x) / pt.exp(x))), np.array([x], dtype="float16"))
    finding = judge_of(one).compare([np.array([True])])
    assert (finding is not None) is is_told


@pytest.mark.parametrize(("x", "is_told"), [(1e300, False), (500.0, True)])
def test_exponentials_of_numbers_whose_last_digit_is_large(x: float, is_told: bool) -> None:
    one = case(lambda y: x * y - pt.log(2 * pt.exp(x * y)), np.array([-1.5]))
    finding = judge_of(one).compare([np.array([0.0])])
    assert (finding is not None and finding.severity > 0) is is_told


@pytest.mark.parametrize("dtype", ["float64", "int32"])
@pytest.mark.parametrize(("x", "is_told"), [(494779, False), (800, True)])
def test_numbers_that_no_digits_tell(dtype: str, x: int, is_told: bool) -> None:
    """log(sigmoid(x)) is not 0, and what is divided by it and multiplied with it is left; so is
    sigmoid(-800), and what is left there is 1.
    """

    def left(x: Any) -> Any:
        log = pt.log(pt.sigmoid(x))
        y = -800.0 / log * log
        return pt.sigmoid(y) * pt.exp(-y)

    one = case(left, np.array([x], dtype))
    finding = judge_of(one).compare([np.array([5.0])])
    assert finding is not None
    assert (finding.severity > 0) is is_told


@pytest.mark.parametrize(("x", "is_told"), [(9e18, False), (3.0, True)])
def test_comparisons_with_what_no_digits_tell(x: float, is_told: bool) -> None:
    """log(1 - sigmoid(x)) is -x but for what no float of 64 bits has."""
    one = case(lambda x: pt.neq(x, -pt.log(1 - pt.sigmoid(x))), np.array(x))
    finding = judge_of(one).compare([np.array(False)])
    assert (finding is not None and finding.severity > 0) is is_told


@pytest.mark.parametrize(("x", "is_told"), [(709.0, False), (3.0, True)])
def test_no_digits_tell_what_is_left_of_a_large_step(x: float, is_told: bool) -> None:
    """log(erfc(709)) is -502,690: 1 - sigmoid of that takes 200,000 digits."""

    def left(x: Any) -> Any:
        y = -pt.log(pt.erfc(x))
        return pt.exp(y + pt.log1p(-pt.sigmoid(y)))

    one = case(left, np.array([x]))
    finding = judge_of(one).compare([np.array([0.7])])
    assert (finding is not None and finding.severity > 0) is is_told


@pytest.mark.parametrize(("x", "is_told"), [(1e30, False), (1e3, True)])
def test_differences_of_exponentials_of_what_is_equal_up_to_the_last_digit(
    x: float, is_told: bool
) -> None:
    one = case(lambda x: pt.log(pt.exp(pt.logaddexp(x, x)) - pt.exp(x)), np.array([x]))
    finding = judge_of(one).compare([np.array([-np.inf])])
    assert (finding is not None and finding.severity > 0) is is_told


@pytest.mark.parametrize(("x", "is_told"), [(700.0, False), (27.0, True)])
def test_no_digits_tell_what_exponentials_of_products_leave(x: float, is_told: bool) -> None:
    """1 - p where p is as near to 1 as exp(-490000) is to 0."""
    values = np.array([x])
    one = case(lambda x: pt.log(1 - pt.exp(x * x) / (1 + pt.exp(x * x))), values)
    finding = judge_of(one).compare([-values * values - (5.0 if is_told else 0)])
    assert (finding is not None and finding.severity > 0) is is_told


@pytest.mark.parametrize(("x", "is_told"), [(1e19, False), (2.0, True)])
def test_what_is_equal_only_by_its_last_digit(x: float, is_told: bool) -> None:
    """log(1 - sigmoid(x)) is -x in floating point, and a little less; its digits are too many."""
    one = case(lambda x: pt.erf(1.0 / pt.eq(pt.log(1 - pt.sigmoid(x)), -x)), np.array([x]))
    finding = judge_of(one).compare([np.array([0.8427007929497148 - 0.1 * is_told])])
    assert (finding is not None and finding.severity > 0) is is_told


@pytest.mark.parametrize(("y", "is_told"), [(2e-36, False), (2e-10, True)])
def test_exponentials_of_what_is_large_without_errors(y: float, is_told: bool) -> None:
    """log(1 + y) is 0 for a tiny y as it is written, so all is NaN; 1/y swallows x otherwise."""
    one = case(lambda x, y: pt.softmax(x + 1 / pt.log(1 + y)), np.array([0.0, 88.0]), np.array(y))
    wanted = [np.full(2, np.nan)]
    graph = judge_of(one).graph
    found = judge_element(
        WholeElement(graph, 0, (0,), wanted[0][0], np.float64(0.5), wanted[0][:1])
    )
    assert (found.broken is not None and found.severity > 0) is is_told


@pytest.mark.parametrize(("x", "is_told"), [(3e38, False), (3e36, True)])
def test_what_hangs_by_sums_that_overflow_in_parts(x: float, is_told: bool) -> None:
    values = [np.array([v], "float32") for v in (-x, np.inf)]
    one = case(lambda x, y: pt.isinf(pt.add(x, y, x)), *values)
    assert judge_of(one).compare([np.array([False])]) is not None
    found = judge_of(one, regrouped=True).compare([np.array([False])])
    assert (found is not None) is is_told


LARGEST = float(np.finfo("float64").max)


@pytest.mark.parametrize(
    ("make", "given", "found", "is_told"),
    [
        (lambda x: pt.add(-np.inf, x, x), LARGEST, np.nan, False),  # x + x first
        (lambda x: pt.add(-np.inf, x, x), 1.0, np.nan, True),
        (lambda x: (-np.inf + x) + x, LARGEST, np.nan, False),
        (lambda x: pt.sum(x * 3), [LARGEST, -LARGEST], np.inf, False),
        (lambda x: pt.sum(x * 3), [LARGEST, -LARGEST], 1e300, True),
        (lambda x: pt.sum(x * 3), [1e280, LARGEST, -LARGEST], 0.0, False),
        (lambda x: pt.sum(x * 3), [np.inf, -np.inf], np.inf, True),
    ],
)
def test_what_overflows_in_another_order(make: Any, given: Any, found: Any, is_told: bool) -> None:
    one = case(make, np.array(given))
    if found != 0:  # that is right in any order, up to the last digit of what is added up
        assert judge_of(one).compare([np.array(found)]) is not None
    again = judge_of(one, regrouped=True).compare([np.array(found)])
    assert (again is not None) is is_told


@pytest.mark.parametrize(("x", "is_told"), [(1.5e308, False), (1e300, True)])
def test_what_overflows_in_another_order_in_an_exponent(x: float, is_told: bool) -> None:
    """-8 - 4 x - 8 y is inf - inf term by term."""

    def made(x: Any, y: Any) -> Any:
        z = x + (-1.0 - x - y) + (-1.0 - x - y)
        return pt.log(pt.exp(1.0 / z) * pt.exp(4 * z))

    one = case(made, np.array([-x]), np.array([x]))
    finding = judge_of(one).compare([np.array([np.nan])])
    assert (finding is not None) is is_told


@pytest.mark.parametrize(("other", "is_told"), [(0.0, False), (1.0, True)])
def test_complex_numbers_that_are_chosen_by_a_mended_one(other: float, is_told: bool) -> None:
    """x - log(exp(x)) is 0, and not quite as it is written."""
    given = np.float32([-0.291]), np.complex64([1]), np.complex64([2])
    one = case(lambda x, y, z: pt.switch(x - pt.log(pt.exp(x)) + other, y, z), *given)
    finding = judge_of(one).compare([np.complex64([2])])
    assert (finding is not None) is is_told


@pytest.mark.parametrize(("found", "is_told"), [(np.float32(1e-45), False), (1e-30, True)])
def test_a_complex_number_of_a_mended_float(found: float, is_told: bool) -> None:
    """The square underflows."""
    one = case(lambda x: pt.cast(pt.sqrt(pt.sqr(x)), "complex128"), np.float32([1e-45]))
    finding = judge_of(one).compare([np.array([complex(found)])])
    assert (finding is not None) is is_told


@pytest.mark.parametrize(("other", "is_told"), [(-1.0, False), (1.0, True)])
def test_real_numbers_that_are_compared_as_complex_ones(other: float, is_told: bool) -> None:
    """log(exp(x)) is x, also where exp(x) underflows as it is written."""

    def compared(x: Any) -> Any:
        return pt.lt(pt.cast(x + other, "complex128"), pt.log(pt.exp(x)))

    one = case(compared, np.array([-800.0]))
    finding = judge_of(one).compare([np.array([True])])
    assert (finding is not None) is is_told


@pytest.mark.parametrize(("found", "is_told"), [(-np.inf, False), (np.inf, True)])
def test_complex_infinities_by_a_limit(found: float, is_told: bool) -> None:
    """-log(1 - sigmoid(x)) at inf is NaN as it is written, and inf by its limit."""

    def compared(x: Any, z: Any) -> Any:
        y = -pt.log(1 - pt.exp(x) / (1 + pt.exp(x)))
        return pt.switch(pt.ge(y, z + y), -y, 0.0)

    one = case(compared, np.array([np.inf]), np.array([-2.162 - 0j]))
    finding = judge_of(one).compare([np.array([found])])
    assert finding is not None
    assert (finding.severity > 0) is is_told


@pytest.mark.parametrize(("found", "is_told"), [(3e38, False), (3e37, True)])
def test_the_shape_of_complex_numbers(found: float, is_told: bool) -> None:
    """The square overflows."""
    given = np.complex64([1j]), np.float32([3e38])
    one = case(lambda z, x: pt.second(z, 0 * pt.sqr(x) + pt.sqrt(pt.sqr(x))), *given)
    finding = judge_of(one).compare([np.float32([found])])
    assert (finding is not None) is is_told


@pytest.mark.parametrize(("x", "is_told"), [(88.0, False), (2.0, True)])
def test_nan_before_a_step_that_is_taken_as_it_is(x: float, is_told: bool) -> None:
    """x / exp(y) * exp(y) is NaN where exp(y) overflows; comparisons with it are no truth."""

    def compared(x: Any, y: Any) -> Any:
        z = x / pt.exp(y) * pt.exp(y)
        return pt.le(pt.ScaledExp(axis=None)(z), z)

    one = case(compared, np.array([0.0, 88.0], "float16"), np.array(x, "float16"))
    finding = judge_of(one).compare([np.array([True, x > 80])])
    assert (finding is not None) is is_told


@pytest.mark.parametrize(("x", "is_told"), [(-128, False), (-2, True)])
def test_numbers_by_lost_digits_are_none(x: int, is_told: bool) -> None:
    """exp(-128) is 0 in float32 alone: what is left of a difference, by itself, is 1, or 0 / 0."""

    def by_itself(x: Any, y: Any) -> Any:
        z = pt.exp(y) - pt.exp(x)
        return z * (1.0 / z)

    one = case(by_itself, np.array([x], "int8"), np.array([float(x) if x < -99 else 1.0]))
    finding = judge_of(one).compare([np.array([-np.inf])])
    assert (finding is not None and finding.severity > 0) is is_told


@pytest.mark.parametrize(
    ("make", "given", "found", "wrong"),
    [
        (pt.log, [1e-30], [-69.0], True),
        (lambda x: pt.log(1 + x), [1e-17], [1e-17], False),  # better
        (lambda x: pt.log(pt.exp(x)), [1e3], [1e3], False),  # mended
        (lambda x: pt.log(pt.exp(x)), [1e3], [1e2], True),
        (lambda x: pt.sin(x), [np.nan], [0.0], True),
        (lambda x: x + 1, [1.0], [np.inf], True),
        (lambda x: x * 1e200 * 1e-200, [1e200], [1e200], False),
        (lambda x: pt.floor(x * 3 / 3 / x), [0.7], [0.0], False),  # it is not determined
        (lambda x: pt.exp(x) - pt.exp(x), [1e3], [0.0], False),
        (lambda x: 1 // pt.log(pt.exp(x) - pt.exp(x)), [1e5], [-1.0], False),
        (lambda x: 1 / pt.log(1 - x), [0.0], [-np.inf], False),  # the sign of a zero
        (lambda x: 1 / pt.exp(x), [-np.inf], [-np.inf], True),
        (lambda x: pt.eq(x, pt.log(pt.exp(x) + pt.exp(x))), [3e18], [True], False),
        (lambda x: pt.eq(x, pt.log(pt.exp(x) + pt.exp(x))), [3e3], [True], True),
        (lambda x: pt.eq(pt.log(1 + x), x), [1e-17], [True], False),  # log(1 + x) is 0
        (lambda x: pt.eq(pt.log(1 + x), 2 * x), [1e-20], [True], True),
        (lambda x: pt.eq(pt.log(2 + x), x), [1e-17], [True], True),
        (lambda x: in_float32(-pt.log(pt.exp(x))), [-909.59], [909.59003], False),
        (lambda x: -pt.log(pt.exp(x)), [-909.59], [909.59003], True),
        (lambda x: pt.ceil(7 / (1 + pt.exp(-x)) * pt.exp(x) / pt.exp(x)), [1e3], [7.0], False),
        (lambda x: pt.ceil(7 / (1 + pt.exp(-x)) * pt.exp(x) / pt.exp(x)), [1e3], [9.0], True),
        (lambda x: pt.log(pt.exp(x)), [1e3, 2.0], [1e3, np.inf], True),  # the other is no excuse
        (lambda x: pt.gt(pt.log(pt.exp(x)), 1 + x / 2), [1e3, 2.0, 3], [True, False, False], True),
        (overflowing_powers, [709.0], [-1.0], False),  # (-709 // 709) ** -709
        (overflowing_powers, [709.0], [-3.0], True),
        (lambda x: (pt.sigmoid(x) * pt.exp(-x)).argmax(), FLAT, 0, False),
        (lambda x: (pt.sigmoid(x) * pt.exp(-x)).argmax(), FLAT, 1, True),
        (guarded_logarithm, [186520.75], [-186520.75], False),  # no digits tell what it is
        (guarded_logarithm, [500.0], [-500.0], False),
        (guarded_logarithm, [800.0], [5000.0], True),
        (powers_of_log_of_square, np.float16([2**-14]), np.float16([-0.0]), False),
        (powers_of_log_of_square, np.float16([2**-14]), np.float16([1.0]), True),
        (lambda x: 1 / pt.sqrt(x), [0.0], [-np.inf], False),  # the sign of a zero
        (lambda x: x // 0.0 + x, [1.0], [np.inf], False),
        (lambda x: x // 0.0 + x, [1.0], [1.0], True),
        (log_of_squares_over, np.float16([745]), [np.inf], False),  # the square overflows
        (log_of_squares_over, np.float16([745]), [-5.0], True),
        (partly_in_float32, np.int8([1]), [1.0000000419199473], False),
        (partly_in_float32, np.int8([1]), [1.00001], True),
        (log_of_square_of_log, [745.0], [-1488.8801438427624], False),  # two digits are left
        (log_of_square_of_log, [745.0], [5.0], True),
        (lambda x: pt.log(x**0.0 + pt.exp(1e3)), [np.nan], [1e3], False),
        (lambda x: pt.log(x**0.0 + pt.exp(1e3)), [np.nan], [1e2], True),
        (far_away, [900.0], [-3600.0], False),  # what is far away is NaN as it is written
        (far_away, [900.0], [-3000.0], True),
        (lambda x: 3 * x / 3 / (3 * x), [-1.6e308], [0.0], False),  # x / inf
        (lambda x: 3 * x / 3 / (3 * x), [-1.6e308], [0.5], True),
    ],
)
def test_what_is_judged_wrong(make: Any, given: Any, found: Any, wrong: bool) -> None:
    one = case(make, np.array(given))
    judge = judge_of(one)
    assert (judge.compare([np.array(found)]) is not None) is wrong


def test_the_number_of_digits_is_as_before_when_a_case_was_judged() -> None:
    """Also where the first run that tells ends the search."""
    before, one = mp.dps, case(overflowing_powers, np.array([709.0]))
    graph = judge_of(one).graph
    value = np.array([0.5])
    found = judge_element(WholeElement(graph, 0, (0,), value[0], np.float64(-1.0), value))
    assert found.excuse.name == "mended steps"
    assert mp.dps == before


@pytest.mark.parametrize(("found", "is_told"), [(-np.inf, False), (np.nan, True)])
def test_a_pole_where_what_cancels_is_mended(found: float, is_told: bool) -> None:
    """As it is written it is the function of infinity."""
    one = case(lambda x: pt.psi(x - pt.log(pt.exp(x))), np.array(-2490.0))
    finding = judge_of(one).compare([np.array(found)])
    assert (finding is not None) is is_told


@pytest.mark.parametrize(("over", "is_told"), [(0.0, False), (1.0, True)])
def test_the_sign_of_a_zero_that_all_other_noise_hides(over: float, is_told: bool) -> None:
    """Numbers less their mean are 0 as they are written, and never under noise."""

    def value(x: Any) -> Any:
        square = pt.sqr(x - pt.sum(x) / 1.0)
        return pt.log(3 * pt.exp(-1 / (over - pt.switch(square > 0, square * pt.log(square), 0.0))))

    one = case(value, np.array([1.0]))
    wanted = graphs.wanted_of(one)
    finding = judge_of(one).compare([np.array([-wanted[0][0]])])
    assert (finding is not None) is is_told


@pytest.mark.parametrize(("found", "is_told"), [(1e200, False), (1e199, True)])
def test_the_sign_of_a_zero_that_noise_hides_where_a_step_is_mended(
    found: float, is_told: bool
) -> None:
    """1 / sum(-x) of no elements is infinite with either sign; exp overflows for both."""
    one = case(
        lambda x: pt.log(pt.exp(pt.maximum(1.0 / pt.sum(-x, axis=0), 1e200))), np.ones((0, 1))
    )
    finding = judge_of(one).compare([np.array([found])])
    assert (finding is not None) is is_told


@pytest.mark.parametrize(("found", "is_told"), [(5.7871859819511124e-37, False), (9.0, True)])
def test_complex_numbers_of_a_mended_float_have_no_exact_value(found: float, is_told: bool) -> None:
    """The square overflows, and its logarithm does not."""
    given = np.float32([3.0625412211588078e38])
    one = case(lambda x: pt.cast(pt.arctan2(pt.log(x * x), x), "complex128"), given)
    finding = judge_of(one).compare([np.array([found + 0j])])
    assert (finding is not None) is is_told
