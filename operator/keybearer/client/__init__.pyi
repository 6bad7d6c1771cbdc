from keybearer.client.actors import AllowedField as AllowedField
from keybearer.client.actors import AuditActor as AuditActor
from keybearer.client.actors import AuditEvent as AuditEvent
from keybearer.client.actors import AuditLog as AuditLog
from keybearer.client.actors import ClientSecret as ClientSecret
from keybearer.client.actors import CreatedClientSecret as CreatedClientSecret
from keybearer.client.actors import Identity as Identity
from keybearer.client.actors import IdentityMembership as IdentityMembership
from keybearer.client.actors import KubernetesAuthSettings as KubernetesAuthSettings
from keybearer.client.actors import LdapAuthSettings as LdapAuthSettings
from keybearer.client.actors import Organization as Organization
from keybearer.client.actors import ProjectRole as ProjectRole
from keybearer.client.actors import TrustedIp as TrustedIp
from keybearer.client.actors import UniversalAuthSettings as UniversalAuthSettings
from keybearer.client.actors import User as User
from keybearer.client.actors import UserMembership as UserMembership
from keybearer.client.asynchronous import AsyncKeybearer as AsyncKeybearer
from keybearer.client.blocking import Keybearer as Keybearer
from keybearer.client.certificate_approvals import ApprovalPolicy as ApprovalPolicy
from keybearer.client.certificate_approvals import ApprovalRequest as ApprovalRequest
from keybearer.client.certificate_approvals import ApprovalRequestPage as ApprovalRequestPage
from keybearer.client.certificate_approvals import ApprovalVote as ApprovalVote
from keybearer.client.certificate_authorities import AcmeAuthority as AcmeAuthority
from keybearer.client.certificate_authorities import AcmeConfiguration as AcmeConfiguration
from keybearer.client.certificate_authorities import AuthorityCertificate as AuthorityCertificate
from keybearer.client.certificate_authorities import AuthorityConfiguration as AuthorityConfiguration
from keybearer.client.certificate_authorities import CertificateAuthority as CertificateAuthority
from keybearer.client.certificate_authorities import InternalAuthority as InternalAuthority
from keybearer.client.certificate_authorities import RevocationList as RevocationList
from keybearer.client.certificate_enrollments import AcmeBinding as AcmeBinding
from keybearer.client.certificate_enrollments import AcmeEnrollment as AcmeEnrollment
from keybearer.client.certificate_enrollments import ApiEnrollment as ApiEnrollment
from keybearer.client.certificate_enrollments import EstEnrollment as EstEnrollment
from keybearer.client.certificate_enrollments import ScepEnrollment as ScepEnrollment
from keybearer.client.certificate_holders import Application as Application
from keybearer.client.certificate_holders import ApplicationEnrollment as ApplicationEnrollment
from keybearer.client.certificate_holders import ApplicationPage as ApplicationPage
from keybearer.client.certificate_holders import ApplicationProfile as ApplicationProfile
from keybearer.client.certificate_holders import Subscriber as Subscriber
from keybearer.client.certificate_holders import SubscriberBundle as SubscriberBundle
from keybearer.client.certificate_holders import SubscriberCertificate as SubscriberCertificate
from keybearer.client.certificate_policies import AlgorithmRule as AlgorithmRule
from keybearer.client.certificate_policies import CertificatePolicy as CertificatePolicy
from keybearer.client.certificate_policies import CertificatePolicyPage as CertificatePolicyPage
from keybearer.client.certificate_policies import ConstraintRule as ConstraintRule
from keybearer.client.certificate_policies import NameRule as NameRule
from keybearer.client.certificate_policies import PolicyBinding as PolicyBinding
from keybearer.client.certificate_policies import UsageRule as UsageRule
from keybearer.client.certificate_policies import ValidityRule as ValidityRule
from keybearer.client.certificate_profiles import CertificateProfile as CertificateProfile
from keybearer.client.certificate_profiles import CertificateProfilePage as CertificateProfilePage
from keybearer.client.certificate_profiles import ProfileAuthority as ProfileAuthority
from keybearer.client.certificate_profiles import ProfileDefaults as ProfileDefaults
from keybearer.client.certificate_profiles import ProfileExternalConfigs as ProfileExternalConfigs
from keybearer.client.certificate_profiles import ProfilePolicy as ProfilePolicy
from keybearer.client.certificate_requests import CancelledCertificateRequest as CancelledCertificateRequest
from keybearer.client.certificate_requests import CertificateIssuance as CertificateIssuance
from keybearer.client.certificate_requests import CertificateRequest as CertificateRequest
from keybearer.client.certificate_requests import CertificateRequestPage as CertificateRequestPage
from keybearer.client.certificate_requests import CertificateRequestState as CertificateRequestState
from keybearer.client.certificate_requests import RequestedCertificate as RequestedCertificate
from keybearer.client.certificates import AltName as AltName
from keybearer.client.certificates import BasicConstraints as BasicConstraints
from keybearer.client.certificates import Certificate as Certificate
from keybearer.client.certificates import CertificateAttributes as CertificateAttributes
from keybearer.client.certificates import CertificateBundle as CertificateBundle
from keybearer.client.certificates import CertificateMetadata as CertificateMetadata
from keybearer.client.certificates import CertificatePage as CertificatePage
from keybearer.client.certificates import ImportedCertificate as ImportedCertificate
from keybearer.client.certificates import IssuedCertificate as IssuedCertificate
from keybearer.client.certificates import LatestBundle as LatestBundle
from keybearer.client.certificates import RenewedCertificate as RenewedCertificate
from keybearer.client.certificates import RevokedCertificate as RevokedCertificate
from keybearer.client.connections import AllowedUse as AllowedUse
from keybearer.client.connections import AppConnection as AppConnection
from keybearer.client.connections import AppConnectionOption as AppConnectionOption
from keybearer.client.connections import AppConnectionUse as AppConnectionUse
from keybearer.client.connections import AvailableAppConnection as AvailableAppConnection
from keybearer.client.connections import ConnectionProject as ConnectionProject
from keybearer.client.connections import ConnectionRotation as ConnectionRotation
from keybearer.client.connections import RotationTerms as RotationTerms
from keybearer.client.connections import RotationTime as RotationTime
from keybearer.client.connections import StoppingSync as StoppingSync
from keybearer.client.credentials import KubernetesAuth as KubernetesAuth
from keybearer.client.credentials import LdapAuth as LdapAuth
from keybearer.client.credentials import SuppliedToken as SuppliedToken
from keybearer.client.credentials import UniversalAuth as UniversalAuth
from keybearer.client.credentials import UserAuth as UserAuth
from keybearer.client.errors import AnswerTooLong as AnswerTooLong
from keybearer.client.errors import BadRequest as BadRequest
from keybearer.client.errors import ClientClosed as ClientClosed
from keybearer.client.errors import ClientError as ClientError
from keybearer.client.errors import DecodeError as DecodeError
from keybearer.client.errors import InvalidArgument as InvalidArgument
from keybearer.client.errors import NotFound as NotFound
from keybearer.client.errors import PermissionDenied as PermissionDenied
from keybearer.client.errors import RateLimited as RateLimited
from keybearer.client.errors import ServerFailure as ServerFailure
from keybearer.client.errors import ServiceError as ServiceError
from keybearer.client.errors import StreamEnded as StreamEnded
from keybearer.client.errors import TransportError as TransportError
from keybearer.client.errors import Unauthenticated as Unauthenticated
from keybearer.client.errors import ValidationFailed as ValidationFailed
from keybearer.client.event_frames import ChangedPlace as ChangedPlace
from keybearer.client.event_frames import ProjectEvent as ProjectEvent
from keybearer.client.events import AsyncEventStream as AsyncEventStream
from keybearer.client.events import EventStream as EventStream
from keybearer.client.models import AccessToken as AccessToken
from keybearer.client.models import Folder as Folder
from keybearer.client.models import ImportBlock as ImportBlock
from keybearer.client.models import NotModified as NotModified
from keybearer.client.models import Project as Project
from keybearer.client.models import Secret as Secret
from keybearer.client.models import SecretListing as SecretListing
from keybearer.client.models import SecretMetadata as SecretMetadata
from keybearer.client.models import SecretTag as SecretTag
from keybearer.client.models import SecretType as SecretType
from keybearer.client.operations.events import EventPlace as EventPlace
from keybearer.client.operations.secret_batches import ChangedSecret as ChangedSecret
from keybearer.client.operations.secret_batches import NewSecret as NewSecret
from keybearer.client.options import ClientOptions as ClientOptions
from keybearer.client.retries import NO_RETRIES as NO_RETRIES
from keybearer.client.retries import RetryPolicy as RetryPolicy
from keybearer.client.syncs import DestinationCheck as DestinationCheck
from keybearer.client.syncs import SecretSync as SecretSync
from keybearer.client.syncs import SecretSyncOption as SecretSyncOption
from keybearer.client.syncs import SyncConnection as SyncConnection
from keybearer.client.syncs import SyncedSecret as SyncedSecret
from keybearer.client.syncs import SyncEnvironment as SyncEnvironment
from keybearer.client.syncs import SyncFolder as SyncFolder
from keybearer.client.syncs import SyncOwner as SyncOwner
from keybearer.client.transport import AsyncPools as AsyncPools
from keybearer.client.transport import new_async_http as new_async_http
from keybearer.client.transport import new_http as new_http
from keybearer.interface.environments import Environment as Environment
from keybearer.interface.grants import Grant as Grant
from keybearer.interface.imports import SecretImport as SecretImport
from keybearer.interface.tags import Tag as Tag
from keybearer.wire.events import EventType as EventType

__all__ = [
    "NO_RETRIES",
    "AccessToken",
    "AcmeAuthority",
    "AcmeBinding",
    "AcmeConfiguration",
    "AcmeEnrollment",
    "AlgorithmRule",
    "AllowedField",
    "AllowedUse",
    "AltName",
    "AnswerTooLong",
    "ApiEnrollment",
    "AppConnection",
    "AppConnectionOption",
    "AppConnectionUse",
    "Application",
    "ApplicationEnrollment",
    "ApplicationPage",
    "ApplicationProfile",
    "ApprovalPolicy",
    "ApprovalRequest",
    "ApprovalRequestPage",
    "ApprovalVote",
    "AsyncEventStream",
    "AsyncKeybearer",
    "AsyncPools",
    "AuditActor",
    "AuditEvent",
    "AuditLog",
    "AuthorityCertificate",
    "AuthorityConfiguration",
    "AvailableAppConnection",
    "BadRequest",
    "BasicConstraints",
    "CancelledCertificateRequest",
    "Certificate",
    "CertificateAttributes",
    "CertificateAuthority",
    "CertificateBundle",
    "CertificateIssuance",
    "CertificateMetadata",
    "CertificatePage",
    "CertificatePolicy",
    "CertificatePolicyPage",
    "CertificateProfile",
    "CertificateProfilePage",
    "CertificateRequest",
    "CertificateRequestPage",
    "CertificateRequestState",
    "ChangedPlace",
    "ChangedSecret",
    "ClientClosed",
    "ClientError",
    "ClientOptions",
    "ClientSecret",
    "ConnectionProject",
    "ConnectionRotation",
    "ConstraintRule",
    "CreatedClientSecret",
    "DecodeError",
    "DestinationCheck",
    "Environment",
    "EstEnrollment",
    "EventPlace",
    "EventStream",
    "EventType",
    "Folder",
    "Grant",
    "Identity",
    "IdentityMembership",
    "ImportBlock",
    "ImportedCertificate",
    "InternalAuthority",
    "InvalidArgument",
    "IssuedCertificate",
    "Keybearer",
    "KubernetesAuth",
    "KubernetesAuthSettings",
    "LatestBundle",
    "LdapAuth",
    "LdapAuthSettings",
    "NameRule",
    "NewSecret",
    "NotFound",
    "NotModified",
    "Organization",
    "PermissionDenied",
    "PolicyBinding",
    "ProfileAuthority",
    "ProfileDefaults",
    "ProfileExternalConfigs",
    "ProfilePolicy",
    "Project",
    "ProjectEvent",
    "ProjectRole",
    "RateLimited",
    "RenewedCertificate",
    "RequestedCertificate",
    "RetryPolicy",
    "RevocationList",
    "RevokedCertificate",
    "RotationTerms",
    "RotationTime",
    "ScepEnrollment",
    "Secret",
    "SecretImport",
    "SecretListing",
    "SecretMetadata",
    "SecretSync",
    "SecretSyncOption",
    "SecretTag",
    "SecretType",
    "ServerFailure",
    "ServiceError",
    "StoppingSync",
    "StreamEnded",
    "Subscriber",
    "SubscriberBundle",
    "SubscriberCertificate",
    "SuppliedToken",
    "SyncConnection",
    "SyncEnvironment",
    "SyncFolder",
    "SyncOwner",
    "SyncedSecret",
    "Tag",
    "TransportError",
    "TrustedIp",
    "Unauthenticated",
    "UniversalAuth",
    "UniversalAuthSettings",
    "UsageRule",
    "User",
    "UserAuth",
    "UserMembership",
    "ValidationFailed",
    "ValidityRule",
    "new_async_http",
    "new_http",
]
