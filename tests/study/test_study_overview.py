"""The overview of a study."""

import pytest

from bandstop.errors import ConfigError
from bandstop.study.tables.groups import gather
from bandstop.study.tables.overview import overview_tables
from bandstop.study.tables.render import Strong
from tests.study.result_rows import DENSE, rows


def test_an_overview_has_a_column_a_rate_and_the_lead_of_the_first_method() -> None:
    ours = rows([88.0, 90.0, 89.0]) + rows([80.0, 82.0, 81.0], rate=0.99)
    rival = rows([85.0, 88.0, 85.0], method="gmp", prior=None) + rows(
        [83.0, 84.0, 85.0], method="gmp", prior=None, rate=0.99
    )
    means, lead = overview_tables(gather(rows([91.0, 92.0, 93.0], **DENSE) + ours + rival))
    assert means.header == ("fpha", "dense", "98 %", "99 %")
    assert means.rows == (
        ("dense", "92.00 ± 1.00", "", ""),
        ("pmp laplace", "", "89.00 ± 1.00", "81.00 ± 1.00"),
        ("gmp", "", "86.00 ± 1.73", "84.00 ± 1.00"),
    )
    assert isinstance(means.rows[1][2], Strong) and isinstance(means.rows[2][3], Strong)
    assert not isinstance(means.rows[2][2], Strong)
    assert lead.rows[0][0] == "gmp"
    assert lead.rows[0][1].startswith("+3.00 (") and lead.rows[0][2].startswith("−3.00 (")


def test_an_overview_leads_from_the_baseline_that_is_asked_for() -> None:
    groups = gather(rows([88.0, 90.0, 89.0]) + rows([85.0, 88.0, 85.0], method="gmp", prior=None))
    _, lead = overview_tables(groups, baseline="gmp")
    assert lead.title == "fpha: gmp minus …"
    assert lead.rows[0][0] == "pmp laplace" and lead.rows[0][1].startswith("−3.00 (")
    with pytest.raises(ConfigError, match="one baseline, found 'all'"):
        overview_tables(groups, baseline="all")
    with pytest.raises(ConfigError, match="--baseline must be a method of the results"):
        overview_tables(groups, baseline="rigl")
