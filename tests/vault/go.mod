// The vendor's OpenAPI description of Vault, which its Go client carries: no Go source uses it, so
// `go mod tidy` would drop it. support.remotes.vault_description finds the file.
module keybearer.dev/tests/vault

go 1.21

require github.com/hashicorp/vault-client-go v0.4.3
