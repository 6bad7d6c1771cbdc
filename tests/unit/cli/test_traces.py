"""When traces are made, and what they cost when they are not."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Sequence

import pytest

from keybearer.base.errors import ConfigurationError
from keybearer.base.opentelemetry import OpenTelemetry
from keybearer.base.tracing import SpanKind
from keybearer.cli.traces import traced
from support.trace_receiver import TraceReceiver
from tools.local.waiting import PATIENCE_SECONDS, eventually

_URL = "http://127.0.0.1:1/v1/traces"


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ENDPOINT", "TRACES_ENDPOINT", "PROTOCOL", "TRACES_PROTOCOL"):
        monkeypatch.delenv(f"OTEL_EXPORTER_OTLP_{name}", raising=False)


@pytest.mark.parametrize(
    ("endpoint", "variables"),
    [
        pytest.param(None, {}, id="nobody asks"),
        pytest.param(None, {"OTEL_EXPORTER_OTLP_ENDPOINT": " "}, id="a variable that is blank"),
        pytest.param(_URL, {"OTEL_SDK_DISABLED": "true"}, id="all of it is disabled"),
        pytest.param(
            None,
            {"OTEL_EXPORTER_OTLP_ENDPOINT": _URL, "OTEL_TRACES_EXPORTER": "none"},
            id="no exporter of traces",
        ),
    ],
)
def test_without_being_asked_there_is_no_tracer(
    monkeypatch: pytest.MonkeyPatch, endpoint: str | None, variables: dict[str, str]
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with traced("keybearer-test", endpoint) as tracer:
        assert tracer is None


@pytest.mark.parametrize(
    ("endpoint", "variables", "told"),
    [
        pytest.param("collector:4317", {}, "http or https URL", id="no URL"),
        pytest.param(
            _URL, {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "only http/protobuf", id="another protocol"
        ),
        pytest.param(_URL, {"OTEL_TRACES_EXPORTER": "zipkin"}, "only otlp and none", id="another exporter"),
    ],
)
def test_what_cannot_be_done_is_refused_at_the_start(
    monkeypatch: pytest.MonkeyPatch, endpoint: str, variables: dict[str, str], told: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError, match=told), traced("keybearer-test", endpoint):
        pass


def test_without_the_extra_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keybearer.base.opentelemetry", None)
    with (
        pytest.raises(ConfigurationError, match=r"pip install 'keybearer\[otel\]'"),
        traced("keybearer-test", _URL),
    ):
        pass


def test_the_variable_alone_is_enough_and_what_waits_is_sent_in_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "named-by-variable")
    with TraceReceiver() as receiver:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.base)
        with traced("keybearer-test", None) as tracer:
            assert isinstance(tracer, OpenTelemetry)
            with tracer.within("run", SpanKind.INTERNAL, {"keybearer.lane": "first"}) as run:
                call = tracer.begin("call", SpanKind.CLIENT, {})
                header = [(name.encode(), value.encode()) for name, value in call.headers]
                call.fail("status 500")
                call.end()
            with tracer.within("answer", SpanKind.SERVER, {}, joins=header):
                pass
            assert tracer.current() is None
        spans = {span.name: span for span in receiver.spans}
    assert {span.service for span in spans.values()} == {"named-by-variable"}
    assert {span.trace_id for span in spans.values()} == {run.trace_id}
    assert (spans["run"].parent, spans["call"].parent) == ("", spans["run"].span_id)
    assert spans["answer"].parent == spans["call"].span_id
    assert (spans["call"].failed, spans["run"].failed) == ("status 500", None)


@pytest.mark.parametrize(
    "header",
    [
        pytest.param([], id="nothing"),
        pytest.param([(b"traceparent", b"00-nonsense")], id="nonsense"),
        pytest.param([(b"traceparent", b"\xff" * 4096)], id="bytes"),
    ],
)
def test_a_header_that_names_no_trace_begins_one(header: Sequence[tuple[bytes, bytes]]) -> None:
    with TraceReceiver() as receiver:
        tracer = OpenTelemetry("keybearer-test", endpoint=receiver.endpoint)
        with (
            tracer.within("outer", SpanKind.INTERNAL, {}),
            tracer.within("answer", SpanKind.SERVER, {}, joins=header),
        ):
            pass
        tracer.close()
        (answer,) = (span for span in receiver.spans if span.name == "answer")
    assert answer.parent == "", "what is under way here is no part of a stranger's request"


def test_the_text_of_an_exception_is_not_sent() -> None:
    with TraceReceiver() as receiver:
        tracer = OpenTelemetry("keybearer-test", endpoint=receiver.endpoint)
        with pytest.raises(RuntimeError), tracer.within("run", SpanKind.INTERNAL, {}):
            raise RuntimeError("cnry-quoted")
        tracer.close()
        assert not any(b"cnry" in body for body in receiver.bodies)
        assert [span.events for span in receiver.spans] == [0]


def test_a_collector_that_never_answers_holds_up_no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("keybearer.base.opentelemetry._CLOSE_SECONDS", 0.2)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", f"{PATIENCE_SECONDS:g}")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1/traces"
        with traced("keybearer-test", url) as tracer:
            assert tracer is not None
            tracer.begin("run", SpanKind.INTERNAL, {}).end()
        assert _is_sending(), "the end of what is sent was waited for"
        connection, _ = silent.accept()
        with connection:
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
            eventually(lambda: not _is_sending(), awaited="an end of the sending")


def _is_sending() -> bool:
    return "send the last traces" in (thread.name for thread in threading.enumerate())


@pytest.mark.parametrize("module", ["keybearer.controllers.process", "keybearer.server.run"])
def test_nothing_of_it_is_loaded_where_nobody_asks(module: str) -> None:
    program = (
        f"import sys, {module}, keybearer.cli.traces\n"
        "print([name for name in sys.modules if name.startswith(('opentelemetry.sdk', 'opentelemetry.exporter'))])\n"
        "print('prometheus_client' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded, has_metrics = done.stdout.splitlines()
    assert loaded == "[]"
    assert has_metrics == str(module == "keybearer.controllers.process"), (
        "the service without a listener has none"
    )
