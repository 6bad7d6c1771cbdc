from __future__ import annotations

import base64
import hashlib

import pytest

from keybearer.controllers.template.protocol import OUTPUT_MAX_BYTES, Failure, Request, TemplateFault
from keybearer.controllers.template.sandbox import render
from support.rows import each_row

_VALUES = {
    "HOST": b"cnry-db.example",
    "PASSWORD": b"cnry-p/ss w\xc3\xb6rd",
    "my-key": b"cnry-dashed",
    "STORE": b"cnry-\xff\x00",
    "CONFIG": b'{"user": "cnry-user", "ports": [1, 2], "on": true, "none": null}',
    "B64": base64.b64encode(b"cnry-decoded"),
}


def _render(source: str) -> str:
    outcome = render(Request({"key": source}, _VALUES))
    assert isinstance(outcome, dict), outcome
    return outcome["key"].decode()


def _failure(source: str) -> Failure:
    outcome = render(Request({"key": source}, _VALUES))
    assert isinstance(outcome, Failure)
    return outcome


@each_row(
    ("source", "output"),
    [
        pytest.param("{{ HOST }}:5432", "cnry-db.example:5432", id="a secret is a variable by its key"),
        pytest.param("{{ secrets['my-key'] }}", "cnry-dashed", id="any key is an item of secrets"),
        pytest.param("a\n", "a\n", id="the last line break stays"),
        pytest.param("{{ 'a<b' }}", "a<b", id="nothing is escaped for HTML"),
        pytest.param("{{ absent | default('x') }}", "x", id="a default stands for what is absent"),
        pytest.param("{{ absent is defined }}", "false", id="a boolean is printed as in JSON"),
        pytest.param("{{ none }}", "", id="nothing is printed as nothing"),
        pytest.param("{{ STORE | b64encode }}", "Y25yeS3/AA==", id="bytes are encoded"),
        pytest.param("{{ B64 | b64decode }}", "cnry-decoded", id="Base64 is decoded"),
        pytest.param("{{ STORE | b64encode | b64decode | b64encode }}", "Y25yeS3/AA==", id="bytes survive"),
        pytest.param("{{ '' | sha256 }}", hashlib.sha256(b"").hexdigest(), id="a text is hashed"),
        pytest.param("{{ STORE | sha256 }}", hashlib.sha256(b"cnry-\xff\x00").hexdigest(), id="bytes are hashed"),
        pytest.param("{{ (CONFIG | fromjson).user }}", "cnry-user", id="JSON is read"),
        pytest.param("{{ (CONFIG | fromjson).ports | tojson }}", "[1,2]", id="JSON is written compact"),
        pytest.param("{{ {'a': '<ö>'} | tojson }}", '{"a":"<ö>"}', id="JSON is written without HTML escapes"),
        pytest.param("{{ {'a': [1, true]} | toyaml }}", "a:\n- 1\n- true", id="YAML is written in blocks"),
        pytest.param("{{ 'a' | toyaml }}", "a", id="YAML of a text is the text"),
        pytest.param("{{ ('a: [1]' | fromyaml).a[0] }}", "1", id="YAML is read"),
        pytest.param('{{ \'a"b\n\' | quote }}', '"a\\"b\\n"', id="a text is quoted"),
        pytest.param("{{ PASSWORD | urlencode }}", "cnry-p%2Fss%20w%C3%B6rd", id="a slash is encoded in a URL"),
        pytest.param("{{ 'a\nb' | indent(2) }}", "a\n  b", id="lines are indented"),
        pytest.param("{{ 'a,b'.split(',') | join('-') }}", "a-b", id="methods of texts are there"),
        pytest.param("{% for k, v in {'b': 1, 'a': 2} | dictsort %}{{ k }}{% endfor %}", "ab", id="loops sort"),
    ],
)  # fmt: skip
def test_a_template_gives(source: str, output: str) -> None:
    assert _render(source) == output


def test_pem_blocks_are_taken_by_the_end_of_their_label() -> None:
    certificate = "-----BEGIN CERTIFICATE-----\ncnry-1\n-----END CERTIFICATE-----\n"
    other = "-----BEGIN CERTIFICATE-----\ncnry-2\n-----END CERTIFICATE-----\n"
    key = "-----BEGIN EC PRIVATE KEY-----\ncnry-3\n-----END EC PRIVATE KEY-----\n"
    bundle = f"comment\n{certificate}\n{key}{other}".replace("\n", "\r\n").encode()
    templates = {
        "tls.crt": "{{ BUNDLE | pem_blocks('CERTIFICATE') | join }}",
        "leaf": "{{ BUNDLE | pem_blocks('CERTIFICATE') | first }}",
        "tls.key": "{{ BUNDLE | pem_blocks('PRIVATE KEY') | first }}",
        "none": "{{ BUNDLE | pem_blocks('CSR') | length }}",
    }

    outcome = render(Request(templates, {"BUNDLE": bundle}))

    assert outcome == {
        "tls.crt": (certificate + other).encode(),
        "leaf": certificate.encode(),
        "tls.key": key.encode(),
        "none": b"0",
    }


@each_row(
    ("source", "fault", "line", "name"),
    [
        ("a\n{{ OTHER }}", TemplateFault.UNDEFINED_VARIABLE, 2, "OTHER"),
        ("{{ secrets['other-key'] }}", TemplateFault.UNDEFINED_VARIABLE, 1, "other-key"),
        (
            "\n\n{% if %}",
            TemplateFault.SYNTAX_ERROR,
            3,
            "Expected an expression, got 'end of statement block'",
        ),
        ("{{ HOST | b64enc }}", TemplateFault.SYNTAX_ERROR, 1, "b64enc"),
        ("{{ HOST is odd_looking }}", TemplateFault.SYNTAX_ERROR, 1, "odd_looking"),
        ("{{ ''.__class__ }}", TemplateFault.UNSAFE, 1, "__class__"),
        ("{{ ''['__class__'] }}", TemplateFault.UNSAFE, 1, "__class__"),
        ("{{ '{0.__class__}'.format(1) }}", TemplateFault.UNSAFE, 1, "__class__"),
        ("{{ self._TemplateReference__context }}", TemplateFault.UNSAFE, 1, "_TemplateReference__context"),
        ("{% for i in range(10**9) %}{% endfor %}", TemplateFault.UNSAFE, 1, "range"),
        ("{{ secrets.update({}) }}", TemplateFault.UNSAFE, 1, "update"),
        ("{{ STORE }}", TemplateFault.NOT_TEXT, 1, None),
        ("{{ secrets }}", TemplateFault.NOT_TEXT, 1, None),
        ("{{ [1] }}", TemplateFault.NOT_TEXT, 1, None),
        ("{{ 1 // 0 }}", TemplateFault.FAILED, 1, "ZeroDivisionError"),
        ("{{ HOST | b64decode }}", TemplateFault.FAILED, 1, "b64decode"),
        ("{{ HOST | fromjson }}", TemplateFault.FAILED, 1, "fromjson"),
        ("{{ '[' | fromyaml }}", TemplateFault.FAILED, 1, "fromyaml"),
        ("{{ 1 | urlencode }}", TemplateFault.FAILED, 1, "urlencode"),
        ("{{ 1 | sha256 }}", TemplateFault.FAILED, 1, "sha256"),
        ("{{ range | tojson }}", TemplateFault.FAILED, 1, "tojson"),
        ("{% include 'other' %}", TemplateFault.FAILED, 1, "TypeError"),
        ("{{ '\\ud800' }}", TemplateFault.FAILED, None, "UnicodeEncodeError"),
    ],
)
def test_a_template_that_fails_says_what_failed_and_where(
    source: str, fault: TemplateFault, line: int | None, name: str | None
) -> None:
    failure = _failure(source)

    assert (failure.fault, failure.name) == (fault, name)
    assert failure.line == line
    assert failure.key == "key"


@pytest.mark.parametrize(
    "source",
    [
        "{{ lipsum() }}",
        "{{ cycler() }}",
        "{{ HOST | random }}",
        "{{ HOST | attr('x') }}",
        "{{ HOST | pprint }}",
    ],
)
def test_what_is_random_made_for_web_pages_or_reaches_by_computed_names_is_not_there(source: str) -> None:
    assert _failure(source).fault in (TemplateFault.UNDEFINED_VARIABLE, TemplateFault.SYNTAX_ERROR)


def test_a_name_that_is_also_a_global_is_the_secret() -> None:
    assert render(Request({"key": "{{ range }}"}, {"range": b"cnry-range"})) == {"key": b"cnry-range"}


def test_a_secret_that_is_called_secrets_is_an_item_of_them() -> None:
    outcome = render(Request({"key": "{{ secrets.secrets }}"}, {"secrets": b"cnry-own"}))

    assert outcome == {"key": b"cnry-own"}


def test_the_first_template_that_fails_is_named_and_nothing_is_given() -> None:
    outcome = render(Request({"a": "1", "b": "{{ X }}", "c": "{{ Y }}"}, {}))

    assert isinstance(outcome, Failure)
    assert (outcome.key, outcome.name) == ("b", "X")


@pytest.mark.parametrize("size", [OUTPUT_MAX_BYTES - 1, OUTPUT_MAX_BYTES])
def test_as_much_output_as_a_secret_takes_is_given(size: int) -> None:
    outcome = render(Request({"a": "x", "b": "{{ 'y' * " + str(size - 1) + " }}"}, {}))

    assert isinstance(outcome, dict)


def test_more_output_than_a_secret_takes_is_refused_over_all_templates() -> None:
    outcome = render(Request({"a": "x", "b": "{{ 'y' * " + str(OUTPUT_MAX_BYTES) + " }}"}, {}))

    assert outcome == Failure(TemplateFault.OUTPUT_TOO_LARGE, "b")


def test_the_same_secrets_give_the_same_output() -> None:
    source = "{{ ['c', 'a', 'b', 'a'] | unique | join }}{{ secrets | dictsort | length }}"

    assert len({_render(source) for _ in range(20)}) == 1
