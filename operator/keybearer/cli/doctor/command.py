"""`keybearer doctor`: all checks, trouble first."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from keybearer.cli.failures import CommandError, ExitStatus
from keybearer.cli.kubectl.cluster import Cluster, Context, Kubeconfig, Place, run
from keybearer.cli.output import Output, OutputFormat, Styled, print_found

if TYPE_CHECKING:
    from keybearer.cli.connecting import CurrentLogin
    from keybearer.cli.doctor.findings import Finding, View
    from keybearer.cli.installation import Operator
    from keybearer.kube.resources import JsonObject

__all__ = ["doctor"]

_COLOURS = {"trouble": "red", "not checked": "yellow", "fine": "green"}


def doctor(
    operator_namespace: Annotated[
        str, typer.Option(help="The operator's namespace; needed if you may not list all Deployments.")
    ] = "keybearer",
    logins: Annotated[
        bool,
        typer.Option(
            "--logins/--no-logins",
            help="Try the credentials of identities at the service. A client secret with a limited number of uses "
            "loses one.",
        ),
    ] = True,
    same_service: Annotated[
        bool,
        typer.Option(
            "--same-service",
            help="You are logged in at the operator's service, only at another address, such as a port-forward: try "
            "credentials there if the operator's address can't be reached from here.",
        ),
    ] = False,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Check operator, CRDs, release, service, identities, rights and leases.

    Prints a line for each check, trouble first, with the next command. Uses your kubeconfig and your login (keybearer
    login), and changes nothing. A check for which you lack a right is "not checked".

    Ends with status 0 if everything is fine. Status 8 means that a check found trouble, and 4 that no check did, but
    some could not be done.
    """
    login = _login()

    async def look(cluster: Cluster) -> list[Finding]:
        return await _findings(
            cluster, operator_namespace, login, tries_logins=logins, same_service=same_service
        )

    found = run(Place(kubeconfig, context), look)
    rows = [
        (
            Styled(one.verdict, _COLOURS[one.verdict]),
            one.check,
            " ".join(one.message.split()),
            one.command or "-",
        )
        for one in found
    ]
    print_found(output, [asdict(one) for one in found], ("STATE", "CHECK", "FOUND", "NEXT"), rows)
    status = _status(found)
    if status is not ExitStatus.OK:
        raise typer.Exit(status)


def _login() -> CurrentLogin | None:
    from keybearer.cli.connecting import current_login

    try:
        return current_login()
    except CommandError as error:
        if error.status is not ExitStatus.NOT_LOGGED_IN:
            raise
        return None


def _status(found: Sequence[Finding]) -> ExitStatus:
    from keybearer.cli.doctor.findings import Verdict

    verdicts = {one.verdict for one in found}
    if Verdict.TROUBLE in verdicts:
        return ExitStatus.NOT_AS_WANTED
    return ExitStatus.DENIED if Verdict.NOT_CHECKED in verdicts else ExitStatus.OK


async def _findings(
    cluster: Cluster,
    operator_namespace: str,
    login: CurrentLogin | None,
    *,
    tries_logins: bool,
    same_service: bool,
) -> list[Finding]:
    """Return what all checks found, trouble first.

    Raises:
        KubeError: the API server can't be asked.
    """
    from keybearer.cli.doctor.findings import Finding, Verdict, View, within_rights
    from keybearer.cli.doctor.service import check_service

    operators, known, blind = await _operators(cluster, operator_namespace)
    objects, unseen = await _objects(cluster)
    view = View(
        cluster=cluster,
        operators=operators,
        operators_known=known,
        operator_namespace=operator_namespace,
        objects=objects,
        login=login,
        tries_logins=tries_logins,
        same_service=same_service,
    )
    found = [
        Finding(Verdict.NOT_CHECKED, check, message, command) for check, message, command in (*blind, *unseen)
    ]
    for check, right, findings in _checks(view, sees_operators=not blind):
        found += [one async for one in within_rights(check, right, findings)]
    found += check_service(login)
    order = list(Verdict)
    return sorted(found, key=lambda one: order.index(one.verdict))


def _checks(
    view: View, *, sees_operators: bool
) -> list[tuple[str, str, Callable[[], AsyncIterator[Finding]]]]:
    """Return each check: its name, the right that it needs, and what runs it."""
    from keybearer.cli.doctor import identities, objects, operators, rights

    checks: list[tuple[str, str, Callable[[], AsyncIterator[Finding]]]] = [
        ("crds", "get customresourcedefinitions", partial(objects.check_crds, view)),
        ("leases", "get leases", partial(operators.check_leases, view)),
        ("identities", "get secrets", partial(identities.check_identities, view)),
        ("objects", "list secretsyncs", partial(objects.check_objects, view)),
    ]
    if sees_operators:
        checks += [
            ("operator", "list deployments", partial(operators.check_operators, view)),
            ("release", "create subjectaccessreviews", partial(operators.check_release, view)),
            ("service", "list deployments", partial(operators.check_service_workloads, view)),
            ("rights", "create subjectaccessreviews", partial(rights.check_rights, view)),
        ]
    return checks


_Blind = list[tuple[str, str, str]]


async def _operators(cluster: Cluster, namespace: str) -> tuple[Sequence[Operator], bool, _Blind]:
    from keybearer.cli.installation import find_operators
    from keybearer.kube.errors import ForbiddenError

    try:
        found, everywhere = await find_operators(cluster.gateway, namespace)
    except ForbiddenError:
        told = f"you may not list Deployments, not even in namespace {namespace}"
        command = "kubectl auth can-i list deployments -n NAMESPACE"
        return (), False, [(check, told, command) for check in ("operator", "release", "rights")]
    return found, everywhere, []


async def _objects(cluster: Cluster) -> tuple[list[JsonObject], _Blind]:
    """Return the objects of our kinds: of all namespaces, else of the context's."""
    from keybearer.controllers.kinds import RESOURCES
    from keybearer.kube.errors import ForbiddenError, NotFoundError

    found: list[JsonObject] = []
    blind: _Blind = []
    for kind, resource in RESOURCES.items():
        for namespace in (None, cluster.namespace):
            try:
                found += [{**body, "kind": kind} async for body in cluster.gateway.list(resource, namespace)]
            except ForbiddenError:
                where = "in all namespaces" if namespace is None else f"in namespace {namespace}"
                command = f"kubectl auth can-i list {resource.plural} -A"
                blind.append(("objects", f"you may not list {resource.plural} {where}", command))
            except NotFoundError:
                break
            else:
                break
    return found, blind
