"""Examples that the help of each command shows. A test reads every one of them with the parser of the program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from typer.core import TyperCommand, TyperGroup

__all__ = ["EXAMPLES", "PLUGIN_EXAMPLES", "epilog_of", "show_examples"]

EXAMPLES: Mapping[str, Sequence[str]] = {
    "init": (
        "keybearer init -p my-shop -e dev -n shop",
        "keybearer init -p my-shop -e dev -n shop --auth kubernetes",
    ),
    "doctor": ("keybearer doctor", "keybearer doctor --output json"),
    "whoami": ("keybearer whoami",),
    "version": ("keybearer version",),
    "completion": (
        "source <(keybearer completion bash)",
        'keybearer completion zsh > "${fpath[1]}/_keybearer"',
        "keybearer completion fish > ~/.config/fish/completions/keybearer.fish",
        "keybearer completion powershell >> $PROFILE",
    ),
    "login": (
        "keybearer login --url https://secrets.example.com --client-id CLIENT_ID",
        "keybearer login --url https://secrets.example.com --email ada@example.com",
    ),
    "logout": ("keybearer logout",),
    "secrets list": (
        "keybearer secrets list -p my-shop -e dev",
        "keybearer secrets list -p my-shop -e dev --path /apps --recursive --show",
    ),
    "secrets get": (
        "keybearer secrets get DB_PASSWORD -p my-shop -e dev",
        "keybearer secrets get DB_PASSWORD -p my-shop -e dev --plain",
    ),
    "secrets set": (
        "keybearer secrets set DB_PASSWORD -p my-shop -e dev",
        "openssl rand -hex 32 | keybearer secrets set API_KEY -p my-shop -e dev",
        "keybearer secrets set TLS_KEY --file tls.key -p my-shop -e dev",
    ),
    "secrets delete": ("keybearer secrets delete DB_PASSWORD API_KEY -p my-shop -e dev",),
    "secrets import": ("keybearer secrets import shop.env -p my-shop -e dev",),
    "secrets export": (
        "keybearer secrets export -p my-shop -e dev --file shop.env",
        "keybearer secrets export -p my-shop -e dev --format json --recursive",
    ),
    "secrets history": (
        "keybearer secrets history DB_PASSWORD -p my-shop -e dev",
        "keybearer secrets history DB_PASSWORD -p my-shop -e dev --limit 3 --show",
    ),
    "secrets rollback": ("keybearer secrets rollback DB_PASSWORD --to 3 -p my-shop -e dev",),
    "run": ("keybearer run -p my-shop -e dev -- ./server --port 8080",),
    "projects list": ("keybearer projects list",),
    "projects create": (
        "keybearer projects create Shop --slug my-shop",
        "keybearer projects create Certificates --slug my-pki --for-certificates",
    ),
    "projects delete": ("keybearer projects delete my-shop",),
    "environments list": ("keybearer environments list -p my-shop",),
    "environments create": ("keybearer environments create qa --name Quality -p my-shop",),
    "environments delete": ("keybearer environments delete qa -p my-shop",),
    "folders list": ("keybearer folders list -p my-shop -e dev --recursive",),
    "folders create": ("keybearer folders create /apps/web -p my-shop -e dev",),
    "folders delete": ("keybearer folders delete /apps/web -p my-shop -e dev",),
    "imports list": ("keybearer imports list -p my-shop -e dev --path /apps/web",),
    "imports add": ("keybearer imports add staging:/shared -p my-shop -e dev --path /apps/web",),
    "imports remove": ("keybearer imports remove staging:/shared -p my-shop -e dev --path /apps/web",),
    "tags list": ("keybearer tags list -p my-shop",),
    "tags create": ("keybearer tags create rotate-soon -p my-shop",),
    "tags delete": ("keybearer tags delete rotate-soon -p my-shop",),
    "members list": ("keybearer members list -p my-shop",),
    "members set": (
        "keybearer members set ada@example.com --role member -p my-shop",
        "keybearer members set web-reader --role viewer -p my-shop",
    ),
    "members remove": ("keybearer members remove ada@example.com -p my-shop",),
    "grants list": ("keybearer grants list -p my-shop --member ada@example.com",),
    "grants add": (
        (
            "keybearer grants add ada@example.com --action read --action read-value \\\n"
            "    --path '/apps/**' -p my-shop -e dev"
        ),
    ),
    "grants remove": ("keybearer grants remove GRANT_ID -p my-shop",),
    "users list": ("keybearer users list",),
    "users create": ("keybearer users create ada@example.com --first-name Ada",),
    "users update": ("keybearer users update ada@example.com --last-name Lovelace",),
    "users delete": ("keybearer users delete ada@example.com --transfer-syncs-to bob@example.com",),
    "users change-password": ("keybearer users change-password",),
    "identities list": ("keybearer identities list",),
    "identities create": (
        "keybearer identities create web-reader -p my-shop --project-role viewer",
        "keybearer identities create web-reader --output json",
    ),
    "identities delete": ("keybearer identities delete web-reader",),
    "identities client-secret create": (
        "keybearer identities client-secret create web-reader --description laptop",
        "keybearer identities client-secret create web-reader --ttl 86400 --uses 1",
        "keybearer identities client-secret create web-reader --manifest web-login",
    ),
    "identities client-secret list": ("keybearer identities client-secret list web-reader",),
    "identities client-secret revoke": (
        "keybearer identities client-secret revoke web-reader CLIENT_SECRET_ID",
    ),
    "identities kubernetes-auth attach": (
        (
            "keybearer identities kubernetes-auth attach web-reader \\\n"
            "    --host https://api.example.com:6443 --ca-file ca.crt \\\n"
            "    --namespace shop --service-account web --audience keybearer"
        ),
    ),
    "identities kubernetes-auth update": (
        (
            "keybearer identities kubernetes-auth update web-reader \\\n"
            "    --reviewer-token-file reviewer-token"
        ),
        (
            "keybearer identities kubernetes-auth update web-reader \\\n"
            "    --namespace shop --namespace shop-test"
        ),
    ),
    "identities kubernetes-auth show": ("keybearer identities kubernetes-auth show web-reader",),
    "identities kubernetes-auth remove": ("keybearer identities kubernetes-auth remove web-reader",),
    "identities ldap-auth attach": (
        (
            "keybearer identities ldap-auth attach staff \\\n"
            "    --url ldaps://ldap.example.com --bind-dn cn=reader,dc=example,dc=com \\\n"
            "    --search-base dc=example,dc=com --bind-password-file password"
        ),
    ),
    "identities ldap-auth show": ("keybearer identities ldap-auth show staff",),
    "identities ldap-auth remove": ("keybearer identities ldap-auth remove staff",),
    "identities ldap-auth unlock": ("keybearer identities ldap-auth unlock staff",),
    "connections list": ("keybearer connections list -p my-shop",),
    "connections get": ("keybearer connections get our-aws -p my-shop",),
    "connections options": ("keybearer connections options",),
    "connections create": (
        (
            "keybearer connections create our-aws --app cloud --method access-key \\\n"
            "    --credentials-file aws.json -p my-shop"
        ),
    ),
    "connections update": ("keybearer connections update our-aws --credentials-file aws.json -p my-shop",),
    "connections allow": ("keybearer connections allow our-aws --organization --to my-shop",),
    "connections delete": ("keybearer connections delete our-aws -p my-shop",),
    "connections rotate": ("keybearer connections rotate our-aws -p my-shop",),
    "syncs list": ("keybearer syncs list -p my-shop",),
    "syncs get": ("keybearer syncs get to-aws -p my-shop",),
    "syncs options": ("keybearer syncs options",),
    "syncs secrets": ("keybearer syncs secrets to-aws -p my-shop",),
    "syncs create": (
        (
            "keybearer syncs create to-aws --to cloud-secrets-manager \\\n"
            "    --connection our-aws --config region=eu-central-1 \\\n"
            "    --config mappingBehavior=one-to-one --key-schema 'SHOP_{{secretKey}}' \\\n"
            "    -p my-shop -e prod"
        ),
    ),
    "syncs update": ("keybearer syncs update to-aws --no-auto -p my-shop",),
    "syncs delete": ("keybearer syncs delete to-aws --remove-secrets -p my-shop",),
    "syncs run": ("keybearer syncs run to-aws --wait -p my-shop",),
    "syncs import": ("keybearer syncs import to-aws --prefer source --wait -p my-shop",),
    "syncs remove": ("keybearer syncs remove to-aws --wait -p my-shop",),
    "syncs owner": ("keybearer syncs owner to-aws -p my-shop",),
    "syncs transfer": ("keybearer syncs transfer to-aws --to ada@example.com -p my-shop",),
    "certificates issue": (
        (
            "keybearer certificates issue --profile web --name www.example.com \\\n"
            "    --cert-file tls.crt --key-file tls.key -p my-pki"
        ),
        (
            "keybearer certificates issue --profile web --csr request.pem --wait \\\n"
            "    --cert-file tls.crt -p my-pki"
        ),
    ),
    "certificates fetch": ("keybearer certificates fetch REQUEST_ID --cert-file tls.crt",),
    "certificates requests": ("keybearer certificates requests --profile web -p my-pki",),
    "certificates approve": ("keybearer certificates approve REQUEST_ID -p my-pki",),
    "certificates reject": ("keybearer certificates reject REQUEST_ID --comment 'wrong host' -p my-pki",),
    "certificates verify": (
        "keybearer certificates verify tls.crt --ca-file ca.crt --usage server_auth",
        "keybearer certificates verify tls.crt --ca issuing -p my-pki",
    ),
    "certificates list": ("keybearer certificates list --status active -p my-pki",),
    "certificates show": ("keybearer certificates show 1a:2b:3c:4d -p my-pki",),
    "certificates search": ("keybearer certificates search www --metadata team=web -p my-pki",),
    "certificates renew": ("keybearer certificates renew CERTIFICATE_ID --cert-file tls.crt",),
    "certificates revoke": ("keybearer certificates revoke CERTIFICATE_ID --reason superseded",),
    "certificates cancel": ("keybearer certificates cancel REQUEST_ID",),
    "authorities list": ("keybearer authorities list -p my-pki",),
    "authorities show": ("keybearer authorities show root --pem -p my-pki > ca.crt",),
    "authorities create": (
        "keybearer authorities create root -p my-pki",
        "keybearer authorities create issuing --parent root --days 1825 -p my-pki",
        (
            "keybearer authorities create letsencrypt --kind acme \\\n"
            "    --email ops@example.com --agree-to-terms -p my-pki \\\n"
            "    --directory https://acme-v02.api.letsencrypt.org/directory"
        ),
    ),
    "authorities certify": (
        "keybearer authorities certify sub --certificate sub.pem --chain ca.pem \\\n    -p my-pki",
    ),
    "authorities renew": ("keybearer authorities renew issuing --days 1825 -p my-pki",),
    "authorities enable": ("keybearer authorities enable issuing -p my-pki",),
    "authorities disable": ("keybearer authorities disable issuing -p my-pki",),
    "authorities delete": ("keybearer authorities delete issuing -p my-pki",),
    "policies list": ("keybearer policies list -p my-pki",),
    "policies show": ("keybearer policies show web -p my-pki",),
    "policies create": (
        "keybearer policies create web --allow 'dns_name=*.example.com' \\\n    --max-ttl 90d -p my-pki",
    ),
    "policies update": (
        "keybearer policies update web --max-ttl 47d -p my-pki",
        "keybearer policies update web --allow 'dns_name=*.example.org' -p my-pki",
    ),
    "policies bind": ("keybearer policies bind web --authority issuing -p my-pki",),
    "policies delete": ("keybearer policies delete web -p my-pki",),
    "profiles list": ("keybearer profiles list -p my-pki",),
    "profiles show": ("keybearer profiles show web -p my-pki",),
    "profiles create": (
        (
            "keybearer profiles create web --policy web --ca issuing --ttl-days 30 \\\n"
            "    --usage server_auth -p my-pki"
        ),
    ),
    "profiles approval": (
        "keybearer profiles approval web --required 2 --request-ttl 7d -p my-pki",
        "keybearer profiles approval web --required 0 -p my-pki",
    ),
    "profiles delete": ("keybearer profiles delete web -p my-pki",),
    "audit": ("keybearer audit --project my-shop --since 1h",),
    "audit verify": ("keybearer audit verify --data-dir /var/lib/keybearer",),
    "keys status": ("keybearer keys status",),
    "keys rotate-root": ("keybearer keys rotate-root --wait",),
    "keys rotate-data": ("keybearer keys rotate-data --project my-shop --wait",),
    "explain": (
        "keybearer explain secretsync shop/web",
        "keybearer explain -n shop certificateprofile/web",
    ),
    "dashboard": (
        "keybearer dashboard",
        "keybearer dashboard --namespace shop --no-browser",
    ),
    "migrate": ("keybearer migrate manifests/ --output-dir converted/",),
    "crds": ("keybearer crds | kubectl apply --server-side -f -",),
    "await-cleanup": ("keybearer await-cleanup --namespace shop --timeout 60",),
    "operator": ("keybearer operator --namespace shop --metrics-listen 127.0.0.1:8081",),
    "serve": (
        "keybearer serve --data-dir ./data",
        (
            "keybearer serve --data-dir /var/lib/keybearer --listen 0.0.0.0:8080 \\\n"
            "    --tls-cert tls.crt --tls-key tls.key"
        ),
    ),
    "backup": ("keybearer backup --data-dir /var/lib/keybearer --output keybearer.backup",),
    "restore": ("keybearer restore --data-dir ./data --input keybearer.backup",),
}
"""By the words of the command. A second line of an example is its continuation."""

PLUGIN_EXAMPLES: Mapping[str, Sequence[str]] = {
    "status": (
        "kubectl keybearer status -A",
        "kubectl keybearer status -A --watch",
        "kubectl keybearer status -n shop secretsync --exit-code",
    ),
    "plan": (
        "kubectl keybearer plan -n shop secretsync/web",
        "kubectl keybearer plan -f web.yaml -f converted/ --exit-code",
    ),
    "sync": (
        "kubectl keybearer sync -n shop secretsync web --wait",
        "kubectl keybearer sync -n shop secretsync/web --request approve-plan --wait",
    ),
    "explain": ("kubectl keybearer explain -n shop secretsync/web",),
}
"""Those of `kubectl keybearer`."""


def epilog_of(examples: Sequence[str]) -> str | None:
    """Return what the help of a command ends with, in typer's form; None without examples."""
    if not examples:
        return None
    lines = [line for example in examples for line in example.splitlines()]
    heading = "Example:" if len(examples) == 1 else "Examples:"
    return "\n".join(("\b", heading, *(f"  {line}" for line in lines)))


def show_examples(command: TyperCommand | TyperGroup, name: str) -> None:
    """Have the help of a command, and of those below it, end with its examples."""
    command.epilog = epilog_of(EXAMPLES.get(name, ()))
    if isinstance(command, TyperGroup):
        for word, below in command.commands.items():
            if isinstance(below, TyperCommand | TyperGroup):
                show_examples(below, f"{name} {word}")
