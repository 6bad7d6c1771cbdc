"""`client.certificate_applications`, `client.pki_subscribers`."""

from __future__ import annotations

from keybearer.client.operations import certificate_applications, certificate_subscribers
from keybearer.client.resources import Resource, Shell, call

__all__ = ["CertificateApplicationsApi", "PkiSubscribersApi"]


class CertificateApplicationsApi(Resource[Shell]):
    """`client.certificate_applications`: what has certificates of its own."""

    list = call(certificate_applications.ListApplications)
    get = call(certificate_applications.GetApplication)
    get_by_name = call(certificate_applications.GetApplicationByName)
    create = call(certificate_applications.CreateApplication)
    update = call(certificate_applications.UpdateApplication)
    delete = call(certificate_applications.DeleteApplication)
    list_profiles = call(certificate_applications.ListApplicationProfiles)
    attach_profiles = call(certificate_applications.AttachProfiles)
    detach_profile = call(certificate_applications.DetachProfile)
    get_enrollment = call(certificate_applications.GetApplicationEnrollment)
    set_enrollment = call(certificate_applications.SetApplicationEnrollment)
    remove_enrollment = call(certificate_applications.RemoveApplicationEnrollment)


class PkiSubscribersApi(Resource[Shell]):
    """`client.pki_subscribers` (interface.md section 4.10): whose certificates all say the same."""

    list = call(certificate_subscribers.ListSubscribers)
    get = call(certificate_subscribers.GetSubscriber)
    create = call(certificate_subscribers.CreateSubscriber)
    update = call(certificate_subscribers.UpdateSubscriber)
    delete = call(certificate_subscribers.DeleteSubscriber)
    issue_certificate = call(certificate_subscribers.IssueForSubscriber)
    sign_certificate = call(certificate_subscribers.SignForSubscriber)
    order_certificate = call(certificate_subscribers.OrderForSubscriber)
    latest_certificate_bundle = call(certificate_subscribers.GetLatestBundleOfSubscriber)
