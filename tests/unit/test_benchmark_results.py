"""A published number says what it was held against, and whether that was enough."""

from __future__ import annotations

from xml.etree import ElementTree

from tests.benchmarks import report
from tests.benchmarks.chart import Bar, draw
from tests.benchmarks.results import Result, at_most, p95, ratio_at_least, ratio_at_most, rounded


def test_a_ratio_is_of_two_numbers_of_one_run():
    result = Result("post", 10.0, "ms", 40.0, "a peer", ratio_at_most(0.25))
    assert (result.ratio, result.met) == (0.25, True)
    assert Result("post", 10.1, "ms", 40.0, "a peer", ratio_at_most(0.25)).met is False


def test_what_is_bounded_from_below_is_met_by_more():
    assert Result("deliveries", 900.0, "/s", 100.0, "groups", ratio_at_least(8)).met is True
    assert Result("deliveries", 700.0, "/s", 100.0, "groups", ratio_at_least(8)).met is False


def test_a_ratio_without_its_reference_is_neither_met_nor_missed():
    assert Result("post", 10.0, "ms", None, "not measured", ratio_at_most(0.25)).met is None


def test_a_target_that_is_missed_fails_the_run():
    def found(value: float) -> dict[str, dict[str, object]]:
        return {"idle": {"runs": [{"results": [Result("memory", value, "MB", target=at_most(150)).json()]}]}}

    assert report.all_met(found(150)) is True
    assert report.all_met(found(151)) is False
    assert report.all_met({"idle": {"runs": [{"results": [], "not_measured": "it failed"}]}}) is False


def test_numbers_keep_three_digits():
    assert [rounded(value) for value in (1234.5, 12.345, 0.012345, 7.0)] == [1234, 12.3, 0.0123, 7]


def test_the_95th_of_a_hundred_is_exceeded_by_few():
    assert p95(list(range(100))) == 95


def test_the_chart_is_well_formed_and_says_what_was_missed():
    drawn = ElementTree.fromstring(draw([Bar("a <b>", 0.5, "1 ms", met=True), Bar("c", 9.0, "8 ms", met=False)]))
    said = [text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert said == ["the target", "a <b>", "1 ms", "c", "8 ms, not met"]
