// The CRDs of cert-manager for the test-suite: only a dependency, no Go source. support.cert_manager reads them from the
// module itself; nothing of it is built or kept here.
module keybearer.dev/tests/certmanager

go 1.26.0

require github.com/cert-manager/cert-manager v1.21.2
