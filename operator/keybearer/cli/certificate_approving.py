"""`keybearer certificates requests`, `approve` and `reject`: what waits for somebody's agreement."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from keybearer.cli.certificate_finding import (
    CertificateProject,
    Limit,
    all_of,
    approval_of,
    in_certificate_project,
    profile_of,
)
from keybearer.cli.nouns import Noun
from keybearer.cli.output import Output, OutputFormat, print_done

if TYPE_CHECKING:
    from keybearer.client import ApprovalRequest

__all__ = ["approve", "reject", "requests"]

APPROVAL: Noun[ApprovalRequest] = Noun(
    "approval",
    ("NAME", "FOR", "STATUS", "AGREED", "PROFILE", "WHO ASKS", "UNTIL", "REQUEST"),
    lambda one: (
        one.common_name or one.alt_names,
        _purpose(one),
        one.status,
        f"{_agreed(one)} of {one.required_approvals}",
        one.profile_name,
        one.requester_name,
        one.expires_at or "",
        one.certificate_request_id,
    ),
)

Which = Annotated[str, typer.Argument(help="Id of the request, or of its approval.", metavar="REQUEST")]
Comment = Annotated[str | None, typer.Option(help="Why; others can read it.")]


def requests(
    every: Annotated[bool, typer.Option("--all", help="Also decided requests.")] = False,
    profile: Annotated[
        str | None, typer.Option(help="Only of this profile: slug or id.", metavar="PROFILE")
    ] = None,
    project: CertificateProject = None,
    limit: Limit = 100,
    output: Output = OutputFormat.TABLE,
) -> None:
    """List requests that wait for approval."""
    with in_certificate_project(project) as (client, project_id):
        ask = partial(
            client.approval_requests.list,
            project_id=project_id,
            status=None if every else "pending",
            profile_id=None if profile is None else profile_of(client, profile, project_id).id,
        )
        APPROVAL.print_list(output, all_of(ask, lambda page: page.approval_requests, limit))


def approve(
    request: Which,
    comment: Comment = None,
    project: CertificateProject = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Approve a request.

    The last necessary approval has the certificate issued.
    """
    with in_certificate_project(project) as (client, project_id):
        found = approval_of(client, request, project_id)
        told = client.approval_requests.approve(found.id, comment=comment)
    missing = told.required_approvals - _agreed(told)
    then = (
        f"{missing} more must agree"
        if told.status == "pending"
        else f"the request is {told.certificate_request_status}"
    )
    print_done(output, told, f"You agree; {then}.")


def reject(
    request: Which,
    comment: Comment = None,
    project: CertificateProject = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Reject a request. This ends it."""
    with in_certificate_project(project) as (client, project_id):
        found = approval_of(client, request, project_id)
        told = client.approval_requests.reject(found.id, comment=comment)
    print_done(output, told, f"Request {told.certificate_request_id} is {told.status}.")


def _agreed(request: ApprovalRequest) -> int:
    return sum(vote.verdict == "approve" for vote in request.votes)


def _purpose(request: ApprovalRequest) -> str:
    """Return what the certificate would be for: who agrees to an authority should see that it is one."""
    is_authority = request.basic_constraints is not None and request.basic_constraints.is_ca
    return ", ".join([*(["AUTHORITY"] if is_authority else []), *request.extended_key_usages])
