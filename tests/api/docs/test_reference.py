"""docs/api.md and `/docs` are what the handlers say; each example is answered as the document has it."""

import asyncio
import re
import shlex
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from access_kit import guarded
from advised_lake import LocalSource
from api_document import document
from limnograph.adapters.memory.plan_states import MemoryPlanStates
from limnograph.api.docs.openapi import render
from limnograph.api.docs.reference.__main__ import document as page_as_markdown
from limnograph.api.docs.reference.blocks import Heading, Table, Text, markdown, page
from limnograph.api.docs.reference.examples import EXAMPLES, NAMES, SERVER
from limnograph.api.wire.problems import STATUS
from limnograph.domain.advice.prices import Prices
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.maintenance.leases import MaintenanceBreaker
from limnograph.domain.maintenance.moves import following
from limnograph.domain.time import Micros
from limnograph.wiring.on_request.advice import with_advice
from serving_kit import BIG, HOUR, MINUTE, NOW, client, lake, moved, parts, row

PAGE = (Path(__file__).parents[3] / "docs/api.md").read_text()
CURLS = re.findall(r"^curl .*$", PAGE, re.MULTILINE)
ROUTES = [(verb, path) for path, operations in document()["paths"].items() for verb in operations]


def get(path, **headers):
    async def asked():
        async with client(parts()) as http:
            return await http.get(path, headers=headers)

    return asyncio.run(asked())


def test_the_page_is_generated_from_the_handlers() -> None:
    assert page_as_markdown() == PAGE, "run: make types"


def test_every_route_has_its_purpose_scope_answers_and_an_example() -> None:
    sections = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    told = {section.split("\n", 1)[0]: section for section in sections}
    for verb, path in ROUTES:
        section = told[f"{verb.upper()} {path}"]
        assert re.search(r"^\*\*.+\.\*\* \w+", section, re.MULTILINE), path
        assert re.search(r"^Scope: (`[\w:]+`|none, open to anyone)\.$", section, re.MULTILINE), path
        assert "| `400` | problem `bad-request` |" in section, path
        assert section.count("```sh\ncurl ") == 1, path
    assert len(CURLS) == len(ROUTES)


def test_every_problem_type_is_documented_with_its_status() -> None:
    for kind, (status, title) in STATUS.items():
        assert f"| `{kind}` | {status} | {title} |" in PAGE


def sent(command: str) -> tuple[str, str, dict[str, str], str | None]:
    """Method, path with query, headers and body of a curl line, as a shell takes it apart."""
    words = iter(shlex.split(command)[1:])
    method, url, body, headers = None, "", None, {}
    for word in words:
        match word:
            case "-H":
                name, _, value = next(words).partition(": ")
                headers[name] = value
            case "-d":
                body = next(words)
            case "-X":
                method = next(words)
            case _:
                url = word
    assert url.startswith(SERVER + "/")
    return method or ("POST" if body else "GET"), url.removeprefix(SERVER), headers, body


def recorded_plan(states: MemoryPlanStates, path: str) -> None:
    """The plan of the examples, in the state that the request at `path` expects, and the breaker."""
    digest = EXAMPLES["approvePlan"].body["arguments_sha256"]
    plan = PlanFact(plan_id=NAMES["plan_id"], seq=1, state="proposed", arguments_sha256=digest, proposed_by="ann")
    states.record([plan])
    if path.endswith("/cancel"):
        states.record([following(plan, "approved", "ann")])
    if path.endswith("/plans"):
        states.record([following(plan, "dismissed", "ann")])
    key, opened = EXAMPLES["closeBreaker"].body["key"], {"opened_by": plan.plan_id, "opened_at": Micros(NOW)}
    scope, subject, code = key.split(":")
    states.open_breaker(MaintenanceBreaker(key=key, scope=scope, subject=subject, code=code, text="", **opened))


ENDING = [command for command in CURLS if " -N " not in command]


@pytest.mark.parametrize("command", ENDING, ids=lambda command: urlsplit(sent(command)[1]).path)
def test_every_example_has_the_documented_response(command: str, tmp_path: Path) -> None:
    method, path, headers, body = sent(command)
    moves = [moved(1, NOW - 5 * HOUR), moved(BIG, NOW - MINUTE)]
    burst = row(BIG, NOW - MINUTE, 9_002, parent_id=1, added_data_files=9_000)  # the finding of the example
    states, gate = MemoryPlanStates(), guarded(tmp_path)
    made = with_advice(parts(lake([row(1, NOW - 5 * HOUR, 2), burst], moves)), LocalSource(), Prices(), states)
    recorded_plan(states, path)
    decides = method == "POST" and "/maintenance/" in path
    if decides:  # without authentication, the server accepts no decision
        headers["Authorization"] = gate.bearer("maintain", name="ann")["authorization"]

    async def asked():
        await made.backend.alerts.take(b'{"alerts": [{"labels": {"severity": "warning", "job": "foo"}}]}')
        async with client(made, **({"gate": gate.gate} if decides else {})) as http:
            return await http.request(method, path, headers=headers, content=body)

    answer = asyncio.run(asked())
    if (method, path) == ("POST", "/api/v1/session"):
        assert answer.json()["field"] == "token"  # nobody logs in where nobody is asked
    else:
        assert answer.status_code < 300, answer.text


class Page(HTMLParser):
    """What a browser would load, run or find."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags, self.attributes, self.loaded, self.links, self.places = set(), set(), [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        given = dict(attrs)
        self.loaded += [given[name] for name in ("src", "srcset") if name in given]
        if tag == "link":
            self.loaded.append(given["href"])
        if tag == "a":
            self.links.append(given["href"])
        if "id" in given:
            self.places.add(given["id"])


def test_the_page_needs_no_network_no_script_and_no_exception_from_the_policy() -> None:
    answer = get("/docs")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.headers["content-security-policy"] == get("/healthz").headers["content-security-policy"]
    found = Page(answer.text)
    assert found.loaded == ["/docs/docs.css"]
    assert not {"script", "style", "iframe", "img", "object"} & found.tags
    assert not {name for name in found.attributes if name == "style" or name.startswith("on")}
    style = get("/docs/docs.css")
    assert style.headers["content-type"].startswith("text/css")
    assert "url(" not in style.text
    assert "@import" not in style.text


def test_every_link_of_the_page_leads_to_a_place_on_it() -> None:
    found = Page(get("/docs").text)
    assert len(found.links) > len(ROUTES)
    assert {link for link in found.links if link.removeprefix("#") not in found.places} == set()
    for verb, path in ROUTES:
        assert Heading(2, f"{verb.upper()} {path}").place in found.places


def test_the_page_and_the_document_answer_304_and_other_names_404() -> None:
    for path in ("/docs", "/docs/openapi.json"):
        assert get(path, **{"if-none-match": get(path).headers["etag"]}).status_code == 304
    assert get("/docs/openapi.json").text == render()
    assert get("/docs/elsewhere").status_code == 404


def test_markup_in_a_description_is_shown_as_text() -> None:
    told = page("A & B", "/x.css", [Text('<script>"`<b>`'), Table(("a|b",), [("[x](#y)",)])])
    assert "<script>" not in told
    assert "<code>&lt;b&gt;</code>" in told
    assert '<a href="#y">x</a>' in told
    assert markdown([Table(("a",), [("x|y",)])]).splitlines()[-1] == "| x\\|y |"
