"""Plain English: phrases of tests/words.txt occur in no text that users read. One area: `pytest tests/test_words.py -k
cli`.
"""

from __future__ import annotations

import pytest

from dashboard_texts import markup, typescript
from visible_texts import AREAS, VisibleText, findings, rules

_COMPONENT = """
<script lang="ts">
  // nobody reads a comment
  const label = open ? 'nobody is here' : `asked by ${name ?? 'somebody else'}`;
</script>
<p class="a b" title="told by {source}">Nothing <b>stands</b> {count > 1 ? 'and tells it' : ''}</p>
<style>.told { color: red; }</style>
"""


@pytest.mark.parametrize("area", AREAS)
def test_texts_that_users_read_are_plain_english(area: str) -> None:
    assert list(findings(AREAS[area](), rules())) == []


@pytest.mark.parametrize("area", AREAS)
def test_every_area_has_texts(area: str) -> None:
    assert any(len(text.split()) > 2 for _, text in AREAS[area]())


@pytest.mark.parametrize(
    "phrase",
    [
        "Nobody is logged in",
        "The catalog gives no answer",
        "what Prometheus gives",
        "it is told\nanew",
        "The server asks for it",
        "the row stands here",
        "one file a commit",
    ],
)
def test_a_planted_phrase_is_found(phrase: str) -> None:
    assert list(findings(iter([VisibleText("planted", phrase)]), rules()))


def test_plain_phrases_pass() -> None:
    text = "It stands out; a retry; the owner confirms; 12 commits per hour; the task reads `told`."
    assert list(findings(iter([VisibleText("plain", text.replace("`told`", "it"))]), rules())) == []


def test_texts_of_a_component_are_its_visible_words_and_not_its_code() -> None:
    texts = [text.strip() for text in markup(_COMPONENT) if text.strip(" {}\n")]
    assert texts == [
        "nobody is here",
        "asked by {}",
        "somebody else",
        "a b",
        "told by {}",
        "Nothing",
        "stands",
        "and tells it",
    ]


def test_a_quote_inside_a_regular_expression_opens_no_string() -> None:
    assert list(typescript("const quote = /['\"]/g; const said = 'two words'; // it's over")) == ["two words"]
