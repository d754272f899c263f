"""How data is named, in words."""

from __future__ import annotations

from bandstop.record.data_forms import FORMS, KINDS


def test_every_kind_is_named_by_its_forms() -> None:
    for kind, forms in KINDS.items():
        assert forms[0] == f"{kind}:PATH"
        assert all(f"{form}," in FORMS for form in forms)
