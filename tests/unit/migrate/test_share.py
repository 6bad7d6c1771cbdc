"""The count of what is converted: pages and files are read, and each reason is counted once per object."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from support.migration_share import blocks_of, share_of

PAGE = """\
# A page

```yaml
apiVersion: cert-manager.io/v1
kind: Issuer
metadata: {name: own}
spec: {selfSigned: {}}
```

1. A step:

   ```yaml
   apiVersion: cert-manager.io/v1
   kind: Issuer
   metadata: {name: theirs}
   spec:
     venafi: {zone: <zone>}
   ```

```bash
kubectl get issuers
```
"""


def test_the_fenced_yaml_of_a_page_is_read_without_its_indentation(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE, encoding="utf-8")

    first, second = blocks_of(page)

    assert "name: own" in first
    assert second.startswith("apiVersion: cert-manager.io/v1\nkind: Issuer\n")


def test_verdicts_and_the_reasons_of_what_is_not_whole_are_counted(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(PAGE, encoding="utf-8")
    (tmp_path / "half.yaml").write_text("kind: [\n", encoding="utf-8")
    (tmp_path / "one.yaml").write_text(
        dedent(
            """\
            {% raw %}
            apiVersion: cert-manager.io/v1
            kind: Certificate
            metadata: {name: web}
            spec: {secretName: web, dnsNames: [a.example.com, b.example.com], somethingNew: 1, another: 2}
            {% endraw %}
            """
        ),
        encoding="utf-8",
    )

    (tmp_path / "store.yaml").write_text(
        "apiVersion: external-secrets.io/v1\nkind: SecretStore\nmetadata: {name: a}\n"
        "spec: {provider: {doppler: {a: b}}}\n",
        encoding="utf-8",
    )

    assert share_of(tmp_path, ["--map-store", "a=webshop/prod"]).replaced == 1
    share = share_of(tmp_path, [])
    assert share.replaced == 0

    assert share.unreadable == 1
    assert share.verdicts["cert-manager", "all"] == {"whole": 1, "not": 2}
    assert share.verdicts["cert-manager", "Issuer"] == {"whole": 1, "not": 1}
    assert share.reasons["Certificate", "names no issuer"] == 1
    assert share.alone["Certificate", "names no issuer"] == 1
