"""The table of far values is a ratchet: no more of them are wrong than were."""

from __future__ import annotations

import rewrite_engine as rw
from benchmarks import far_table


def test_no_more_values_are_wrong_than_were() -> None:
    wrong, count = far_table.table()
    assert count > 50_000
    assert wrong <= far_table.MOST_WRONG


def test_a_wrong_value_is_counted() -> None:
    plain = rw.Mode(linker="py", optimizer=None)
    assert far_table.table(plain, ["exp"])[0] > far_table.table(None, ["exp"])[0] > 0
