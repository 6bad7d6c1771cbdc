"""Keys that templates build, and what a template can't do to the operator."""

from __future__ import annotations

import pytest

from support.operator_fixtures import Installation
from support.secretsync_objects import config_map
from support.tenant import Tenant

pytestmark = pytest.mark.integration

_VALUES = {"USER": "cnry-user", "PASSWORD": "cnry-p@ss", "db-host": "cnry-host"}
_URL = 'postgres://{{ USER }}:{{ PASSWORD | urlencode }}@{{ secrets["db-host"] }}/app'
_RENDERED = "postgres://cnry-user:cnry-p%40ss@cnry-host/app"


def test_a_template_builds_keys_in_place_of_the_selected_ones(tenant: Tenant) -> None:
    tenant.project.store(_VALUES)
    tenant.sync("web", target={"template": {"data": {"url": _URL}}})

    tenant.until_data("web", {"url": _RENDERED})
    assert [(one["key"], one["source"]) for one in tenant.until_ready("web")["status"]["keys"]] == [
        ("url", "template")
    ]


def test_selected_keys_stay_beside_templates_where_that_is_asked_for(tenant: Tenant) -> None:
    tenant.project.store(_VALUES)
    tenant.sync(
        "web",
        target={
            "template": {"data": {"url": _URL, "USER": "{{ PASSWORD[:5] }}{{ 1 + 1 }}"}, "includeKeys": True}
        },
    )

    tenant.until_data(
        "web", {"PASSWORD": "cnry-p@ss", "db-host": "cnry-host", "USER": "cnry-2", "url": _RENDERED}
    )


def test_a_template_from_a_config_map_is_followed(tenant: Tenant) -> None:
    tenant.project.store(_VALUES)
    tenant.sync("web", target={"template": {"configMapRef": {"name": "templates"}}}, refreshInterval="1h")
    tenant.until_reason("web", "TemplateNotFound", saying="doesn't exist; create it")

    tenant.api.create(config_map(tenant.namespace, "templates", {"url": _URL, "user": "{{ USER }}"}))
    tenant.until_data("web", {"url": _RENDERED, "user": "cnry-user"})

    tenant.api.patch("ConfigMap", tenant.namespace, "templates", {"data": {"user": "{{ USER | upper }}"}})
    tenant.until_data("web", {"url": _RENDERED, "user": "CNRY-USER"})


def test_one_key_of_a_config_map_is_taken_where_it_is_named(tenant: Tenant) -> None:
    tenant.project.store(_VALUES)
    tenant.api.create(config_map(tenant.namespace, "templates", {"url": _URL, "other": "{{ nothing }}"}))
    reference = {"name": "templates", "key": "url"}
    tenant.sync("web", target={"template": {"configMapRef": reference}}, refreshInterval="1h")
    tenant.until_data("web", {"url": _RENDERED})

    tenant.edit("web", target={"template": {"configMapRef": {"key": "missing"}}})

    tenant.until_reason("web", "TemplateNotFound", saying="has no key missing; add it")
    assert tenant.data("web") == {"url": _RENDERED}


_BROKEN = {
    "an unknown variable": "{{ MISSING }}",
    "no template": "{% if %}",
    "a division by zero": "{{ 1 // 0 }}",
    "a way out of the sandbox": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "more memory than it may have": "{{ 'a' * (3 * 10 ** 8) }}",
    "more time than it may have": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
}


@pytest.mark.parametrize("template", _BROKEN.values(), ids=_BROKEN.keys())
def test_a_template_that_fails_keeps_the_last_good_secret(
    tenant: Tenant, installation: Installation, template: str
) -> None:
    tenant.project.store(_VALUES)
    tenant.sync("web", target={"template": {"data": {"url": _URL}}}, refreshInterval="1h")
    tenant.until_ready("web")
    before = tenant.secret("web")

    tenant.edit("web", target={"template": {"data": {"bad": template}}})
    tenant.until_reason("web", "TemplateFailed", saying="bad")

    assert tenant.secret("web") == before
    # The operator goes on with its work meanwhile.
    installation.operator.check()
    tenant.sync("other")
    tenant.until_ready("other")
    tenant.edit("web", target={"template": {"data": {"bad": None}}})
    tenant.until_ready("web")
