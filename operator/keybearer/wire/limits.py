"""Limits of the interface (interface.md section 8, wire.md) and those we set where it is silent."""

from __future__ import annotations

__all__ = [
    "ACME_BINDING_TEXT_MAX",
    "ACME_TOKEN_MAX",
    "ACME_URL_MAX",
    "APP_CONNECTIONS_MAX",
    "APP_CONNECTION_DESCRIPTION_MAX",
    "APP_CONNECTION_NAME_MAX",
    "BATCH_MAX_ITEMS",
    "CERTIFICATE_ALT_NAMES_MAX",
    "CERTIFICATE_ALT_NAMES_TEXT_MAX",
    "CERTIFICATE_APPROVERS_MAX",
    "CERTIFICATE_AUTHORITY_NAME_MAX",
    "CERTIFICATE_CHAIN_MAX",
    "CERTIFICATE_CSR_MAX",
    "CERTIFICATE_DESCRIPTION_MAX",
    "CERTIFICATE_DOMAIN_COMPONENTS_MAX",
    "CERTIFICATE_NAME_MAX",
    "CERTIFICATE_OBJECTS_MAX",
    "CERTIFICATE_PAGE_DEFAULT",
    "CERTIFICATE_PAGE_MAX",
    "CERTIFICATE_POLICY_VALUES_MAX",
    "CERTIFICATE_SUBJECT_TEXT_MAX",
    "CERTIFICATE_TTL_MAX",
    "CERTIFICATE_USAGES_MAX",
    "CONNECTION_PLACES_MAX",
    "CONNECTION_PLACE_MAX",
    "CONNECTION_PROJECTS_MAX",
    "DESCRIPTION_MAX",
    "ENVIRONMENT_SLUG_MAX",
    "EVENT_REGISTRATIONS_MAX",
    "EVENT_STREAMS_MAX",
    "FOLDERS_BATCH_MAX_ITEMS",
    "FOLDER_DEPTH_MAX",
    "FOLDER_NAME_MAX",
    "FOLDER_PATH_MAX",
    "HIDDEN_VALUE",
    "IMPORTS_PER_FOLDER_MAX",
    "IMPORT_DEPTH_MAX",
    "IMPORT_STEPS_MAX",
    "KEY_SCHEMA_MAX",
    "LIST_DEPTH_MAX",
    "METADATA_MAX_ITEMS",
    "OPEN_BODY_MAX_BYTES",
    "PASSWORD_MAX",
    "PASSWORD_MIN",
    "PATTERN_ANY_DEPTH_MAX",
    "PATTERN_STARS_MAX",
    "POLICY_AUTHORITIES_MAX",
    "PROJECT_NAME_MAX",
    "PROJECT_SLUG_MAX",
    "PROJECT_SLUG_MIN",
    "REFERENCE_DEPTH_MAX",
    "REFERENCE_PASSES_MAX",
    "REMINDER_NOTE_MAX",
    "REMINDER_RECIPIENTS_MAX",
    "REMINDER_RECIPIENT_MAX",
    "REQUEST_BODY_MAX_BYTES",
    "REQUEST_HEAD_MAX_BYTES",
    "REQUEST_HEAD_MAX_LINES",
    "ROTATION_INTERVAL_MAX_DAYS",
    "SECRET_COMMENT_MAX",
    "SECRET_NAME_MAX",
    "SECRET_SYNCS_MAX",
    "SECRET_VALUE_MAX_BYTES",
    "SUBSCRIBER_CSR_MAX",
    "SYNC_DESCRIPTION_MAX",
    "SYNC_NAME_MAX",
    "TAGS_MAX_ITEMS",
    "TOKEN_TTL_MAX_SECONDS",
    "VERSIONS_MAX_ITEMS",
]

LIST_DEPTH_MAX = 20
"""Recursive listing (interface.md section 8)."""
APP_CONNECTION_NAME_MAX = 64
APP_CONNECTION_DESCRIPTION_MAX = 256
PROJECT_NAME_MAX = 64
PROJECT_SLUG_MIN = 5
PROJECT_SLUG_MAX = 36
DESCRIPTION_MAX = 1024
ENVIRONMENT_SLUG_MAX = 64
REMINDER_NOTE_MAX = 1024
TOKEN_TTL_MAX_SECONDS = 315_360_000
REFERENCE_DEPTH_MAX = 10
REFERENCE_PASSES_MAX = 10
IMPORT_DEPTH_MAX = 10
"""Imports of imports (wire.md section 2.7)."""
EVENT_REGISTRATIONS_MAX = 10
"""Of one event stream (wire.md section 7)."""
EVENT_STREAMS_MAX = 5
"""Of one actor in one project (wire.md section 7)."""
SYNC_NAME_MAX = 256
SYNC_DESCRIPTION_MAX = 256
KEY_SCHEMA_MAX = 255
"""Of a secret sync (wire.md sections 3.2 and 3.4)."""
CERTIFICATE_SUBJECT_TEXT_MAX = 255
CERTIFICATE_DOMAIN_COMPONENTS_MAX = 50
CERTIFICATE_ALT_NAMES_MAX = 100
CERTIFICATE_ALT_NAMES_TEXT_MAX = 4096
"""Of all of them, joined by commas."""
CERTIFICATE_USAGES_MAX = 20
CERTIFICATE_CSR_MAX = 4096
CERTIFICATE_TTL_MAX = 32
"""Of a certificate (wire.md section 5.1)."""
CERTIFICATE_PAGE_DEFAULT = 20
CERTIFICATE_PAGE_MAX = 100
"""Of lists and searches (interface.md section 4.6)."""
CERTIFICATE_NAME_MAX = 255
"""Of policies, profiles and applications."""
CERTIFICATE_DESCRIPTION_MAX = 1000
CERTIFICATE_AUTHORITY_NAME_MAX = 64
SUBSCRIBER_CSR_MAX = 3000
"""wire.md section 6."""
HIDDEN_VALUE = "<hidden-by-infisical>"
"""What stands in place of a value the caller may not see (wire.md section 2.8)."""

# The interface is silent on these (its section 8); bounds keep memory and time finite.
SECRET_NAME_MAX = 512
SECRET_VALUE_MAX_BYTES = 1024 * 1024
SECRET_COMMENT_MAX = 4096
FOLDER_NAME_MAX = 255
FOLDER_PATH_MAX = 2048
FOLDER_DEPTH_MAX = 64
"""Names of one path."""
CONNECTION_PROJECTS_MAX, CONNECTION_PLACES_MAX, CONNECTION_PLACE_MAX = 1000, 100, 1024
"""Projects that a connection names, patterns of places, and the length of a pattern."""
POLICY_AUTHORITIES_MAX = 100
"""Authorities that sign by one certificate policy alone."""
PATTERN_ANY_DEPTH_MAX = 8
"""How often `**` stands in the path of a grant."""
PATTERN_STARS_MAX = 16
"""How often `*` does."""
SECRET_SYNCS_MAX = 2000
"""Of one project: a list shows them all."""
APP_CONNECTIONS_MAX = 1000
"""Of one project, and as many of the organization itself."""
ROTATION_INTERVAL_MAX_DAYS = 365
ACME_BINDING_TEXT_MAX = 1024
ACME_URL_MAX = 1024
ACME_TOKEN_MAX = 128
"""Of an ACME authority, and of its challenges (RFC 8555 leaves them open)."""
CERTIFICATE_CHAIN_MAX = 64 * 1024
"""Characters of certificates that somebody brings."""
CERTIFICATE_POLICY_VALUES_MAX = 200
"""Of one rule."""
CERTIFICATE_APPROVERS_MAX = 100
CERTIFICATE_OBJECTS_MAX = 2000
"""Authorities, policies, profiles, applications and subscribers: of each, in one project."""
PASSWORD_MIN = 12
PASSWORD_MAX = 256
TAGS_MAX_ITEMS = 100
METADATA_MAX_ITEMS = 100
REMINDER_RECIPIENTS_MAX = 100
REMINDER_RECIPIENT_MAX = 255
BATCH_MAX_ITEMS = 1000
FOLDERS_BATCH_MAX_ITEMS = 100
"""Each may move a whole subtree and be followed by references, and no other write has its turn meanwhile."""
VERSIONS_MAX_ITEMS = 50
IMPORTS_PER_FOLDER_MAX = 1000
IMPORT_STEPS_MAX = 100_000
"""Imports that are read and looked at for one request; one that is met on several ways counts on each."""
REQUEST_BODY_MAX_BYTES = 8 * 1024 * 1024
OPEN_BODY_MAX_BYTES = 64 * 1024
"""Of what anybody may send, such as logins."""
REQUEST_HEAD_MAX_BYTES = 64 * 1024
"""The line of the request and its fields, as they come; a body's trailing fields may have as many again."""
REQUEST_HEAD_MAX_LINES = 200
"""Fields of the head and behind the body: each costs much more memory than its bytes."""
