"""What approvals, applications and subscribers are asked with, and the requests that make."""

from __future__ import annotations

from typing import Any

from keybearer.client.certificate_enrollments import ApiEnrollment, ScepEnrollment
from keybearer.client.operation import Operation
from keybearer.client.operations import (
    certificate_applications,
    certificate_approvals,
    certificate_subscribers,
)
from unit.client.harness import Sent

__all__ = ["OF_APPLICATIONS", "OF_APPROVALS", "OF_SUBSCRIBERS"]

MANAGER = "/api/v1/cert-manager"
AGREEMENTS = f"{MANAGER}/approval-policies"
APPROVALS = f"{MANAGER}/approval-requests"
APPLICATIONS = f"{MANAGER}/applications"
SUBSCRIBERS = "/api/v1/pki/subscribers"
CSR = "-----BEGIN CERTIFICATE REQUEST-----\ncnry-csr\n-----END CERTIFICATE REQUEST-----\n"
OF_APPROVALS: list[tuple[str, Operation[Any], Sent]] = [
    (
        "who must agree",
        certificate_approvals.ListApprovalPolicies(project_id="p-1", profile_id="f-1"),
        ("GET", AGREEMENTS, {"projectId": "p-1", "profileId": "f-1"}, None),
    ),
    (
        "who must agree to one profile",
        certificate_approvals.GetApprovalPolicy("g-1"),
        ("GET", f"{AGREEMENTS}/g-1", {}, None),
    ),
    (
        "somebody must agree",
        certificate_approvals.CreateApprovalPolicy("f-1"),
        ("POST", AGREEMENTS, {}, {"profileId": "f-1"}),
    ),
    (
        "two of three must agree within a week",
        certificate_approvals.CreateApprovalPolicy(
            "f-1",
            name="four eyes",
            enabled=True,
            required_approvals=2,
            approver_ids=("u-1", "u-2", "u-3"),
            bypass_identity_ids=["i-1"],
            allow_self_approval=False,
            request_ttl="7d",
        ),
        (
            "POST",
            AGREEMENTS,
            {},
            {
                "profileId": "f-1",
                "name": "four eyes",
                "enabled": True,
                "requiredApprovals": 2,
                "approverIds": ["u-1", "u-2", "u-3"],
                "bypassIdentityIds": ["i-1"],
                "allowSelfApproval": False,
                "requestTtl": "7d",
            },
        ),
    ),
    (
        "requests may wait for ever",
        certificate_approvals.UpdateApprovalPolicy("g-1", request_ttl="", approver_ids=()),
        ("PATCH", f"{AGREEMENTS}/g-1", {}, {"requestTtl": None, "approverIds": []}),
    ),
    (
        "nobody must agree",
        certificate_approvals.DeleteApprovalPolicy("g-1"),
        ("DELETE", f"{AGREEMENTS}/g-1", {}, None),
    ),
    (
        "what waits for agreement",
        certificate_approvals.ListApprovalRequests(status="pending", profile_id="f-1", limit=100),
        ("GET", APPROVALS, {"status": "pending", "profileId": "f-1", "offset": "0", "limit": "100"}, None),
    ),
    (
        "one that waits for agreement",
        certificate_approvals.GetApprovalRequest("q-1"),
        ("GET", f"{APPROVALS}/q-1", {}, None),
    ),
    (
        "agreement",
        certificate_approvals.ApproveCertificateRequest("q-1"),
        ("POST", f"{APPROVALS}/q-1/approve", {}, {}),
    ),
    (
        "no agreement",
        certificate_approvals.RejectCertificateRequest("q-1", comment="not this one"),
        ("POST", f"{APPROVALS}/q-1/reject", {}, {"comment": "not this one"}),
    ),
]
WITHIN = f"{APPLICATIONS}/a-1/profiles/f-1/enrollment"
OF_APPLICATIONS: list[tuple[str, Operation[Any], Sent]] = [
    (
        "applications",
        certificate_applications.ListApplications(project_id="p-1", search="shop"),
        ("GET", APPLICATIONS, {"projectId": "p-1", "offset": "0", "limit": "20", "search": "shop"}, None),
    ),
    (
        "an application",
        certificate_applications.GetApplication("a-1"),
        ("GET", f"{APPLICATIONS}/a-1", {}, None),
    ),
    (
        "an application by its name",
        certificate_applications.GetApplicationByName("shop", project_id="p-1"),
        ("GET", f"{APPLICATIONS}/by-name/shop", {"projectId": "p-1"}, None),
    ),
    (
        "a new application",
        certificate_applications.CreateApplication(
            "shop", description="d", profile_ids=("f-1",), project_id="p-1"
        ),
        (
            "POST",
            APPLICATIONS,
            {},
            {"projectId": "p-1", "name": "shop", "description": "d", "profileIds": ["f-1"]},
        ),
    ),
    (
        "an application without description",
        certificate_applications.UpdateApplication("a-1", name="store", description=""),
        ("PATCH", f"{APPLICATIONS}/a-1", {}, {"name": "store", "description": None}),
    ),
    (
        "an application that goes",
        certificate_applications.DeleteApplication("a-1"),
        ("DELETE", f"{APPLICATIONS}/a-1", {}, None),
    ),
    (
        "profiles of an application",
        certificate_applications.ListApplicationProfiles("a-1"),
        ("GET", f"{APPLICATIONS}/a-1/profiles", {}, None),
    ),
    (
        "another profile of an application",
        certificate_applications.AttachProfiles("a-1", ["f-1", "f-2"]),
        ("POST", f"{APPLICATIONS}/a-1/profiles", {}, {"profileIds": ["f-1", "f-2"]}),
    ),
    (
        "a profile less",
        certificate_applications.DetachProfile("a-1", "f-1"),
        ("DELETE", f"{APPLICATIONS}/a-1/profiles/f-1", {}, None),
    ),
    (
        "how an application asks",
        certificate_applications.GetApplicationEnrollment("a-1", "f-1"),
        ("GET", WITHIN, {}, None),
    ),
    (
        "an application that asks over the API",
        certificate_applications.SetApplicationEnrollment("a-1", "f-1", ApiEnrollment(auto_renew=True)),
        ("PUT", f"{WITHIN}/api", {}, {"autoRenew": True}),
    ),
    (
        "an application that asks by SCEP",
        certificate_applications.SetApplicationEnrollment(
            "a-1", "f-1", ScepEnrollment(challenge_password="cnry-word", allow_cert_based_renewal=False)
        ),
        (
            "PUT",
            f"{WITHIN}/scep",
            {},
            {
                "challengePassword": "cnry-word",
                "includeCaCertInResponse": True,
                "allowCertBasedRenewal": False,
            },
        ),
    ),
    (
        "an application that no longer asks by EST",
        certificate_applications.RemoveApplicationEnrollment("a-1", "f-1", "est"),
        ("DELETE", f"{WITHIN}/est", {}, None),
    ),
]
OF_PROJECT: dict[str, Any] = {"project_id": "p-1"}
OF_SUBSCRIBERS: list[tuple[str, Operation[Any], Sent]] = [
    (
        "subscribers",
        certificate_subscribers.ListSubscribers(**OF_PROJECT),
        ("GET", "/api/v1/projects/p-1/pki-subscribers", {}, None),
    ),
    (
        "a subscriber",
        certificate_subscribers.GetSubscriber("web", **OF_PROJECT),
        ("GET", f"{SUBSCRIBERS}/web", {"projectId": "p-1"}, None),
    ),
    (
        "a new subscriber",
        certificate_subscribers.CreateSubscriber(
            "web",
            ca_id="ca-1",
            common_name="www.example.com",
            ttl="90d",
            subject_alternative_names=("www.example.com",),
            extended_key_usages=("serverAuth",),
            **OF_PROJECT,
        ),
        (
            "POST",
            SUBSCRIBERS,
            {},
            {
                "projectId": "p-1",
                "caId": "ca-1",
                "name": "web",
                "commonName": "www.example.com",
                "ttl": "90d",
                "subjectAlternativeNames": ["www.example.com"],
                "extendedKeyUsages": ["serverAuth"],
            },
        ),
    ),
    (
        "a subscriber that gets nothing",
        certificate_subscribers.UpdateSubscriber("web", status="disabled", key_usages=[], **OF_PROJECT),
        ("PATCH", f"{SUBSCRIBERS}/web", {}, {"projectId": "p-1", "status": "disabled", "keyUsages": []}),
    ),
    (
        "a subscriber that goes",
        certificate_subscribers.DeleteSubscriber("web", **OF_PROJECT),
        ("DELETE", f"{SUBSCRIBERS}/web", {}, {"projectId": "p-1"}),
    ),
    (
        "a certificate for a subscriber",
        certificate_subscribers.IssueForSubscriber("web", **OF_PROJECT),
        ("POST", f"{SUBSCRIBERS}/web/issue-certificate", {}, {"projectId": "p-1"}),
    ),
    (
        "a certificate for a subscriber's key",
        certificate_subscribers.SignForSubscriber("web", csr=CSR, **OF_PROJECT),
        ("POST", f"{SUBSCRIBERS}/web/sign-certificate", {}, {"projectId": "p-1", "csr": CSR}),
    ),
    (
        "an order for a subscriber",
        certificate_subscribers.OrderForSubscriber("web", **OF_PROJECT),
        ("POST", f"{SUBSCRIBERS}/web/order-certificate", {}, {"projectId": "p-1"}),
    ),
    (
        "the newest certificate of a subscriber",
        certificate_subscribers.GetLatestBundleOfSubscriber("web", **OF_PROJECT),
        ("GET", f"{SUBSCRIBERS}/web/latest-certificate-bundle", {"projectId": "p-1"}, None),
    ),
]
