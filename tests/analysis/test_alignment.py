"""Values on a time axis."""

from limnograph.analysis.alignment import envelope, held, median, since_last_us


def test_a_value_holds_from_its_event_until_the_next() -> None:
    assert held([10, 20], [1, 2], [9, 10, 19, 20, 99]) == [None, 1, 1, 2, 2]


def test_an_unknown_value_is_a_gap_and_not_the_previous_value() -> None:
    assert held([10, 20, 30], [1, None, 3], [15, 25, 35]) == [1, None, 3]


def test_extremes_include_the_value_at_the_start_of_the_bucket_and_a_spike_inside() -> None:
    found = envelope([0, 12, 14], [5, 900, 6], [0, 10, 20], 10)
    assert found.low == [5, 5, 6]
    assert found.high == [5, 900, 6]
    assert found.varies


def test_extremes_of_a_bucket_without_known_values_are_unknown() -> None:
    assert envelope([], [], [0, 10], 10).low == [None, None]


def test_distance_from_the_last_event() -> None:
    assert since_last_us([10], [5, 10, 17]) == [None, 0, 7]


def test_the_median_of_no_values_is_unknown() -> None:
    assert median([]) is None
    assert median([3, 1]) == 2
