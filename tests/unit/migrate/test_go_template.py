"""Templates of Go as Jinja2: rendered by Keybearer's own renderer, they give what Go gives."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keybearer.controllers.template.protocol import Failure, Request
from keybearer.controllers.template.sandbox import render
from keybearer.migrate.go_template import TEMPLATE_MAX, TemplateError, translate
from support.rows import each_row
from tools.local.waiting import PATIENCE_SECONDS

VALUES = {
    "user": b"Ada",
    "password": b"p@ss word",
    "with-dash": b"dashed",
    "loop": b"looped",
    "empty": b"",
    "doc": b'{"name": "x", "tags": ["a", "b"]}',
    "list": b"a,b,c",
    "pem": b"-----BEGIN CERTIFICATE-----\nMQ==\n-----END CERTIFICATE-----\nnoise\n"
    b"-----BEGIN PRIVATE KEY-----\nMg==\n-----END PRIVATE KEY-----\n",
}


def rendered(template: str, values: dict[str, bytes] | None = None) -> str:
    outcome = render(Request({"key": translate(template)}, VALUES if values is None else values))
    assert not isinstance(outcome, Failure), outcome
    return outcome["key"].decode()


@each_row(
    ("template", "output"),
    [
        ("{{ .user }}:{{ .password }}", "Ada:p@ss word"),
        ("{{.user}}", "Ada"),
        ("{{ $.user }}", "Ada"),
        ('{{ index . "with-dash" | toString }}', "dashed"),
        ("{{ .loop }}", "looped"),
        ("{{ .user | b64enc }}", "QWRh"),
        ("{{ .user | b64enc | b64dec }}", "Ada"),
        ("{{ upper .user }}{{ .user | lower }}", "ADAada"),
        (
            "{{ .user | sha256sum }}",
            "99a563ab2f6e21e96998f9fddd2a2bab82b70ac019579502b8d7fc0032ff62bb",
        ),
        ('{{ print .user ":" .password | upper }}', "ADA:P@SS WORD"),
        ('{{ printf "%s:%s" .user .password | b64enc }}', "QWRhOnBAc3Mgd29yZA=="),
        ('{{ (printf "%s-%v" .user .user) }}', "Ada-Ada"),
        ('{{ printf "100%%" }}', "100%"),
        ("{{ .password | urlquery }}", "p%40ss+word"),
        ('{{ urlquery "a %20+/~\u00e4" }}', "a+%2520%2B%2F~%C3%A4"),
        ("{{ .user | quote }}{{ .user | squote }}", "\"Ada\"'Ada'"),
        ('{{ .empty | default "none" }}{{ .user | default "none" }}', "noneAda"),
        ('{{ .user | replace "A" "E" | trimSuffix "a" | trimPrefix "E" }}', "d"),
        ('{{ trim "  x " }}|{{ ` y ` }}', "x| y "),
        ("{{ (fromJson .doc).name }}", "x"),
        ('{{ index (fromJson .doc) "tags" 1 }}', "b"),
        ('{{ index (splitList "," .list) 0 }}{{ .list | splitList "," | join "+" }}', "aa+b+c"),
        ('{{ dict "u" .user "l" (list 1 .user) | toJson }}', '{"u":"Ada","l":[1,"Ada"]}'),
        ('{{ if eq .user "Ada" }}yes{{ else }}no{{ end }}', "yes"),
        ('{{ if ne .user "Ada" }}a{{ else if .empty }}b{{ else if hasPrefix "A" .user }}c{{ end }}', "c"),
        (
            '{{ if and .user (not .empty) }}both{{ end }}{{ if or .empty (contains "d" .user) }}one{{ end }}',
            "bothone",
        ),
        ('{{ ternary "t" "f" (eq .user "Ada") }}', "t"),
        (
            "{{ with .user }}[{{ . }}{{ $.loop }}]{{ else }}-{{ end }}{{ with .empty }}x{{ else }}-{{ end }}",
            "[Adalooped]-",
        ),
        ('{{ range splitList "," .list }}<{{ . }}>{{ end }}', "<a><b><c>"),
        ('{{ range $item := splitList "," .list }}{{ $item | upper }}{{ end }}', "ABC"),
        ("{{ $name := .user | lower }}{{ $name }}{{ $name }}", "adaada"),
        ("a  {{- .user -}}  b", "aAdab"),
        ("a {{- /* gone */ -}} b{{/* too */}}", "ab"),
        ('{{ "a\\tb" | nindent 2 }}', "\n  a\tb"),
        (
            '{{ .pem | filterPEM "CERTIFICATE" }}',
            "-----BEGIN CERTIFICATE-----\nMQ==\n-----END CERTIFICATE-----\n",
        ),
        (
            '{{ filterPEM "PRIVATE KEY" .pem }}',
            "-----BEGIN PRIVATE KEY-----\nMg==\n-----END PRIVATE KEY-----\n",
        ),
        ("plain {# {% %} #} }} text\n", "plain {# {% %} #} }} text\n"),
        ('{{ "}}" }}', "}}"),
    ],
)
def test_a_template_gives_what_go_gives(template: str, output: str) -> None:
    assert rendered(template) == output


def test_all_secrets_come_in_the_order_of_their_names_capitals_first() -> None:
    template = "{{ range $name, $value := . }}{{ $name }}={{ $value }};{{ end }}"
    assert rendered(template, {"b": b"1", "B": b"2", "a": b"3"}) == "B=2;a=3;b=1;"


@each_row(
    ("template", "why"),
    [
        ("{{ .user | sha1sum }}", "the function sha1sum"),
        ("{{ now }}", "the function now"),
        ("{{ .user.name }}", "a field of a field"),
        ("{{ .user ", "without its end"),
        ("{{ if .user }}", "a block without its end"),
        ("{{ end }}", "the action end"),
        ("{{ else }}", "an else without its if"),
        ("{{ if .a }}{{ else with .b }}{{ end }}", "something else than if"),
        ('{{ template "x" }}', "the action template"),
        ("{{ $x = 1 }}", "doesn't declare"),
        ("{{ $x }}", "doesn't declare"),
        ('{{ printf "%q" .user }}', "other verbs"),
        ("{{ printf .user }}", "without a literal format"),
        ("{{ print .user .password }}", "print of values side by side"),
        ('{{ filterPEM "EC PRIVATE KEY" .pem }}', "anything but"),
        ("{{ `{{ .user }}` }}", "helm template"),
        ("{{ .user | .password }}", "no function"),
        ("{{ .user 1 }}", "another form"),
        ("{{ (.user }}", "parentheses"),
        ("{{ lower }}", "number of arguments"),
        ("{{ range $k, $v := (fromJson .doc) }}{{ end }}", "all secrets"),
        ('{{ "\\x41" }}', "escapes"),
        ("{{ " + "(" * 40 + ".a" + ")" * 40 + " }}", "nested deeper"),
        ("{{ if .a }}" * 40 + "{{ end }}" * 40, "nested deeper"),
        ("x" * (TEMPLATE_MAX + 1), "more than"),
        ("{{ .a }}" * 2001, "more than 2000 actions"),
        ("{{ " + "1" * 5000 + " }}", "another form"),
        ("{{ index .a 010 }}", "another form"),
        ('{{ "\\ud800" }}', "half a character"),
    ],
    ids=range(29),
)
def test_what_has_no_equal_is_refused_by_its_name(template: str, why: str) -> None:
    with pytest.raises(TemplateError, match=why):
        translate(template)


@settings(max_examples=200, deadline=None)
@given(
    text=st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=60).filter(
        lambda text: "{{" not in text
    )
)
def test_text_without_actions_stands_for_itself(text: str) -> None:
    assert rendered(text, {}) == text


@settings(max_examples=300, deadline=None)
@given(text=st.text('{}()|.$"`-%#ab 1:=,ifrangewithend', max_size=50))
def test_any_template_is_translated_or_refused(text: str) -> None:
    with contextlib.suppress(TemplateError):
        assert isinstance(translate("{{ " + text + " }}" + text), str)


TOKENS = st.one_of(
    st.sampled_from(
        ["|", "(", ")", ".", "$", ".a", "$.a", "$x", "$x :=", "if", "range", "with", "else", "end", "index"]
    ),
    st.sampled_from(
        ["printf", "default", "quote", "list", "dict", "true", "`", '"', "-", "/*", "*/", "_", "010", "-0"]
    ),
    st.integers(1, 6000).map(lambda count: "1" * count),
    st.text(max_size=6),
    st.text(st.sampled_from('ux0d8\\"n%sv'), max_size=8).map(lambda text: f'"{text}"'),
)


@settings(max_examples=400, deadline=None)
@given(
    actions=st.lists(st.one_of(st.lists(TOKENS, max_size=6).map(" ".join), st.text(max_size=20)), max_size=3)
)
def test_no_template_raises_anything_but_the_readers_own_error(actions: list[str]) -> None:
    template = "".join("{{ " + action + " }}" for action in actions)
    with contextlib.suppress(TemplateError):
        assert isinstance(translate(template).encode(), bytes)  # half a character could not be written


@pytest.mark.timeout(PATIENCE_SECONDS / 5)  # what takes the square of its length takes minutes
@pytest.mark.parametrize(
    "text", ["{{" * 30_000, '{{ "' * 16_000, "{{ " + "(" * 60_000, "{%" * 30_000, "{{ .a" + " " * 60_000]
)
def test_a_template_made_to_hurt_takes_no_time(text: str) -> None:
    with contextlib.suppress(TemplateError):
        assert isinstance(translate(text), str)


def test_nested_blocks_grow_no_expression() -> None:
    template = (
        '{{ with (printf "%s%s" .a .a) }}' + '{{ with (printf "%s%s" . .) }}' * 28 + "x" + "{{ end }}" * 29
    )
    assert len(translate(template)) < 5000
