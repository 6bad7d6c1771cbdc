"""Issuers of the kind acme: an authority of that kind in the service, and the commands that make it.

The service shows names to the authority over HTTP (http-01), not in the DNS (dns-01), and answers itself: it needs no
pods and no Ingresses for each challenge, as cert-manager makes them.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Final

from keybearer.migrate.fields import Part
from keybearer.migrate.findings import Notes
from keybearer.migrate.settings import IssuerPlace

__all__ = ["ANOTHER_SIGNER", "CLUSTER_NAMESPACE", "OBJECT_NAME", "read_acme", "shows_over_http"]

CLUSTER_NAMESPACE: Final = "cert-manager"
"""Where the Secrets of a ClusterIssuer are, unless cert-manager was told otherwise (--cluster-resource-namespace)."""
ANOTHER_SIGNER: Final = "Leave it to cert-manager, which can keep running, or use an authority of your own."
_CHALLENGES: Final = "/.well-known/acme-challenge/"
_DIRECTORY: Final = re.compile(r"https://[A-Za-z0-9.:\[\]-]+(/[^\s\x00-\x20]{0,1000})?")
OBJECT_NAME: Final = re.compile(r"[a-z0-9][a-z0-9.-]{0,252}")
"""Of objects of Kubernetes: nothing that a program takes for an option."""
_KEY: Final = re.compile(r"[A-Za-z0-9._][A-Za-z0-9._-]{0,252}")
_TEXT_MAX: Final = 255
_ZONE: Final = re.compile(r"[A-Za-z0-9*_.-]{1,253}")


def shows_over_http(acme: Part) -> bool:
    """Tell whether an issuer has a solver over HTTP, or none at all, so that nothing says that it needs the DNS."""
    solvers = acme.parts("solvers")
    return not solvers or any("http01" in solver for solver in solvers)


def read_acme(acme: Part, issuer: tuple[str, str, str], place: IssuerPlace, notes: Notes) -> None:
    """Note what of an issuer the authority in the service does, and the commands that make it and its profile.

    Args:
        acme: of the issuer.
        issuer: its kind, namespace and name.
        place: the profile that replaces it.
        notes: of the issuer.
    """
    server, email, template = (
        acme.text("server"),
        _short(acme, "email", notes),
        _short(acme, "profile", notes),
    )
    zones = _judge_solvers(acme, notes)
    _judge_rest(acme, notes)
    before, options, pipe = _secrets(acme, issuer, notes)
    if server is None or _DIRECTORY.fullmatch(server) is None:
        notes.left_out(
            acme.where("server"),
            "is no URL of a directory that begins with https://",
            f"keybearer authorities create {place.profile} --kind acme --directory URL --agree-to-terms",
        )
        return
    in_project = ["--project", place.project_slug] if place.project_slug is not None else []
    authority = [
        *("keybearer", "authorities", "create", place.profile, "--kind", "acme", "--directory", server),
        *_option("--email", email),
        "--agree-to-terms",
        *options,
    ]
    policy = ["keybearer", "policies", "create", place.profile]
    for zone in zones:
        policy += ["--allow", f"dns_name={zone}"]
    profile = [
        *("keybearer", "profiles", "create", place.profile, "--policy", place.profile, "--ca", place.profile),
        *_option("--template", template),
    ]
    notes.step(
        acme.path,
        f"needs an authority of the kind acme and the profile {place.profile} in the service",
        "The commands make an account at the authority, and agree to its terms of service, as cert-manager did.",
        (
            *before,
            pipe + shlex.join([*authority, *in_project]),
            shlex.join([*policy, *in_project]),
            shlex.join([*profile, *in_project]),
        ),
    )


def _short(part: Part, name: str, notes: Notes) -> str | None:
    """Return a text that is short enough for a command; a longer one is noted."""
    text = part.text(name)
    if text is not None and len(text) > _TEXT_MAX:
        notes.left_out(part.where(name), f"is longer than {_TEXT_MAX} characters", "Correct the manifest.")
        return None
    return text


def _option(name: str, value: str | None) -> list[str]:
    """Return an option with its value, which is never taken for another option."""
    if not value:
        return []
    return [f"{name}={value}"] if value.startswith("-") else [name, value]


def _secrets(acme: Part, issuer: tuple[str, str, str], notes: Notes) -> tuple[list[str], list[str], str]:
    """Return commands that must run before, options, and what is piped into the command: the key of a binding."""
    kind, namespace, name = issuer
    where = CLUSTER_NAMESPACE if kind == "ClusterIssuer" else namespace
    in_namespace = ["-n", where] if OBJECT_NAME.fullmatch(where) else []
    before: list[str] = []
    options: list[str] = []
    pipe = ""
    if acme.text("caBundle") and OBJECT_NAME.fullmatch(name):
        file = f"{name}-ca.pem"
        asked = [
            "kubectl",
            *(in_namespace if kind == "Issuer" else []),
            "get",
            f"{kind.lower()}.cert-manager.io",
        ]
        asked += [name, "-o", "jsonpath={.spec.acme.caBundle}"]
        before.append(f"{shlex.join(asked)} | base64 -d > {shlex.quote(file)}")
        options += ["--ca-certificates", file]
    binding = acme.part("externalAccountBinding")
    if binding is not None:
        binding.skip("keyAlgorithm")  # cert-manager has taken HS256 alone since 1.3, as the service does
        key_id, ref = _short(binding, "keyID", notes), binding.part("keySecretRef")
        secret, key = (ref.text("name"), ref.text("key")) if ref is not None else (None, None)
        is_named = OBJECT_NAME.fullmatch(secret or "") is not None and _KEY.fullmatch(key or "") is not None
        if key_id is None or secret is None or key is None or not is_named:
            notes.left_out(
                binding.path,
                "names no key id, or no Secret with its key",
                "Give --eab-kid and --eab-key-file.",
            )
        else:
            escaped = key.replace(".", "\\.")
            asked = ["kubectl", *in_namespace, "get", "secret", secret, "-o", f"jsonpath={{.data.{escaped}}}"]
            pipe = f"{shlex.join(asked)} | base64 -d | "
            options += [*_option("--eab-kid", key_id), "--eab-key-file", "-"]
    return before, options, pipe


def _judge_solvers(acme: Part, notes: Notes) -> tuple[str, ...]:
    """Return the only names that the solvers over HTTP take; empty for all."""
    limits: list[tuple[str, ...]] = []
    solvers = acme.parts("solvers")
    for solver in solvers:
        solver.skip("waitInsteadOfSelfCheck")  # the service asks the authority, and waits for its answer
        selector = solver.part("selector")
        if "dns01" in solver:
            solver.skip("dns01")
            if selector is not None:
                selector.forget()
            notes.left_out(
                solver.where("dns01"),
                "the service shows names over HTTP (http-01), not in the DNS (dns-01): no wildcards, and only hosts "
                "that the authority reaches on port 80",
                ANOTHER_SIGNER,
            )
            continue
        http = solver.part("http01")
        if http is None:
            continue
        classes = tuple(_classes(http))
        http.forget()
        through = f" (class {', '.join(classes)})" if classes else ""
        notes.step(
            http.path,
            f"{_CHALLENGES} of the hosts must lead to the service",
            f"Add this path to the Ingress{through} or HTTPRoute of each host, with the service as backend "
            "(docs/certificates.md).",
        )
        limits.append(tuple(_names(selector)) if selector is not None else ())
    has_dns = any("dns01" in solver for solver in solvers)
    return (
        tuple(dict.fromkeys(name for names in limits for name in names))
        if all(limits) and not has_dns
        else ()
    )


def _classes(http: Part) -> Iterator[str]:
    ingress = http.part("ingress")
    if ingress is not None:
        for name in ("ingressClassName", "class"):
            found = ingress.text(name)
            if found:
                yield found[:63]


def _names(selector: Part) -> Iterator[str]:
    """Yield the names that a selector lets pass, as a policy has them; its labels select Certificates, not names."""
    selector.skip("matchLabels")
    for name in selector.texts("dnsNames"):
        if _ZONE.fullmatch(name):
            yield name
    for zone in selector.texts("dnsZones"):
        if _ZONE.fullmatch(zone):
            yield zone
            yield f"**.{zone}"


def _judge_rest(acme: Part, notes: Notes) -> None:
    if "privateKeySecretRef" in acme:
        acme.skip("privateKeySecretRef")
        if acme.flag("disableAccountKeyGeneration"):
            notes.left_out(
                acme.where("privateKeySecretRef"),
                "the account that this key belongs to is not taken over: the service makes its own",
                "Where the authority knows the account by its contract, bind the new one with --eab-kid.",
            )
        else:
            notes.noted(
                acme.where("privateKeySecretRef"),
                "is left out: the service makes an account and a key of its own",
                "Where a CAA record names the account (accounturi), name the new one there.",
            )
    acme.skip("disableAccountKeyGeneration")
    acme.leave_out(
        "preferredChain",
        "the authority's usual chain is taken",
        "Read tls.crt, and see that clients take it.",
    )
    if acme.flag("enableDurationFeature"):
        notes.left_out(
            acme.where("enableDurationFeature"), "the authority decides how long certificates are valid"
        )
    if acme.flag("skipTLSVerify"):
        notes.changed(
            acme.where("skipTLSVerify"),
            "the certificate of the authority's server is always checked",
            "Give its CA: keybearer authorities create with --ca-certificates FILE.",
        )
