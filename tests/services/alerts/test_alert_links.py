"""Ways out of an alert: quoted for Alertmanager, and never an address that a browser must not be sent to."""

import pytest

from limnograph.domain.facts.events import AlertFact
from limnograph.services.alerts.links import expression, links, longest_range_s, matchers, safe

LABELS = {"alertname": "X", "table": 'o"r\\d\ners'}


def fact(**told: str) -> AlertFact:
    generator = "http://prom:9090/graph?g0.expr=increase%28x%5B5m%5D%29+%3E+1&g0.tab=1"
    return AlertFact(
        fingerprint="1", starts_at=1, status="firing", labels=LABELS, annotations=told, generator_url=generator
    )


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "data:text/html,x",
        "//evil.example",
        "/\\evil.example",
        "http:/\\evil.example",
        "java\tscript:alert(1)",
        "http://user:pass@evil.example/",
        "http://",
        "http://[::1",
        "ftp://files.example/",
        " http://a.example",
        "",
    ],
)
def test_an_odd_address_is_text_and_no_link(url: str) -> None:
    assert safe(url) is None
    told = [link for link in links(fact(runbook_url=url), None) if link.kind == "runbook"]
    assert [(link.url, link.text) for link in told] == ([(None, url)] if url else [])


def test_a_label_name_outside_the_classic_charset_is_quoted_too() -> None:
    labels = {"a_b1": "x", "k8s.pod/name": "y", 'o"d\\d\n': "z", "1st": "v", "größe": "w"}
    assert matchers(labels) == '{"1st"="v",a_b1="x","größe"="w","k8s.pod/name"="y","o\\"d\\\\d\\n"="z"}'


def test_links_lead_to_alertmanager_with_every_label_quoted() -> None:
    assert matchers(LABELS) == '{alertname="X",table="o\\"r\\\\d\\ners"}'
    found = {link.kind: link for link in links(fact(runbook_url="https://wiki.example/x"), "http://am:9093/")}
    assert found["silence"].url == (
        "http://am:9093/#/silences/new?filter=%7Balertname%3D%22X%22%2Ctable%3D%22o%5C%22r%5C%5Cd%5Cners%22%7D"
    )
    assert (found["runbook"].text, found["source"].text, found["alertmanager"].text) == ("wiki.example", "prom", "am")


def test_without_settings_the_address_is_that_of_the_webhook() -> None:
    found = [link.kind for link in links(fact(__external_url__="http://am:9093"), None)]
    assert found == ["source", "alertmanager", "silence"]
    assert [link.kind for link in links(fact(__external_url__="javascript:x"), None)] == ["source"]


def test_the_expression_and_its_longest_range_are_read_from_prometheus_own_link() -> None:
    asked = expression(fact().generator_url)
    assert asked == "increase(x[5m]) > 1"
    assert longest_range_s(asked) == 300
    assert longest_range_s("x - x offset 1h30m") == 5_400
    assert longest_range_s(None) == 0
    assert expression("http://[") is None
