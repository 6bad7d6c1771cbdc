"""`client.approval_policies`, `client.approval_requests`."""

from __future__ import annotations

from keybearer.client.operations import certificate_approvals
from keybearer.client.resources import Resource, Shell, call

__all__ = ["ApprovalPoliciesApi", "ApprovalRequestsApi"]


class ApprovalPoliciesApi(Resource[Shell]):
    """`client.approval_policies`: whose agreement certificate requests need."""

    list = call(certificate_approvals.ListApprovalPolicies)
    get = call(certificate_approvals.GetApprovalPolicy)
    create = call(certificate_approvals.CreateApprovalPolicy)
    update = call(certificate_approvals.UpdateApprovalPolicy)
    delete = call(certificate_approvals.DeleteApprovalPolicy)


class ApprovalRequestsApi(Resource[Shell]):
    """`client.approval_requests`: certificate requests that need agreement."""

    list = call(certificate_approvals.ListApprovalRequests)
    get = call(certificate_approvals.GetApprovalRequest)
    approve = call(certificate_approvals.ApproveCertificateRequest)
    reject = call(certificate_approvals.RejectCertificateRequest)
