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
    profile_of,
    project_of,
)
from keybearer.cli.connecting import connected
from keybearer.cli.output import Output, OutputFormat, print_done, print_found

if TYPE_CHECKING:
    from keybearer.client import ApprovalRequest

__all__ = ["approve", "reject", "requests"]

Which = Annotated[str, typer.Argument(help="Id of the request, or of its approval.", metavar="REQUEST")]
Comment = Annotated[str | None, typer.Option(help="Why; others can read it.")]


def requests(
    every: Annotated[bool, typer.Option("--all", help="Also those that were decided.")] = False,
    profile: Annotated[
        str | None, typer.Option(help="Only of this profile: slug or id.", metavar="PROFILE")
    ] = None,
    project: CertificateProject = None,
    limit: Limit = 100,
    output: Output = OutputFormat.TABLE,
) -> None:
    """List requests that wait for agreement."""
    with connected() as client:
        project_id = project_of(client, project)
        profile_id = None if profile is None else profile_of(client, profile, project_id).id
        ask = partial(
            client.approval_requests.list,
            project_id=project_id,
            status=None if every else "pending",
            profile_id=profile_id,
        )
        found = all_of(ask, lambda page: page.approval_requests, limit)
    print_found(
        output,
        found,
        ("NAME", "FOR", "STATUS", "AGREED", "PROFILE", "WHO ASKS", "UNTIL", "REQUEST"),
        [
            (
                one.common_name or one.alt_names,
                _purpose(one),
                one.status,
                f"{_agreed(one)} of {one.required_approvals}",
                one.profile_name,
                one.requester_name,
                one.expires_at or "",
                one.certificate_request_id,
            )
            for one in found
        ],
    )


def approve(
    request: Which,
    comment: Comment = None,
    project: CertificateProject = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Agree to a request.

    The last one who must has the certificate issued.
    """
    with connected() as client:
        found = approval_of(client, request, project_of(client, project))
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
    """Say no to a request, which ends it."""
    with connected() as client:
        found = approval_of(client, request, project_of(client, project))
        told = client.approval_requests.reject(found.id, comment=comment)
    print_done(output, told, f"Request {told.certificate_request_id} is {told.status}.")


def _agreed(request: ApprovalRequest) -> int:
    return sum(vote.verdict == "approve" for vote in request.votes)


def _purpose(request: ApprovalRequest) -> str:
    """Return what the certificate would be for: who agrees to an authority should see that it is one."""
    is_authority = request.basic_constraints is not None and request.basic_constraints.is_ca
    return ", ".join([*(["AUTHORITY"] if is_authority else []), *request.extended_key_usages])
