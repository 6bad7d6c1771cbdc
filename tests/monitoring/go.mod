// The CRDs of the Prometheus Operator for the test-suite: only a dependency, no Go source. support.monitoring_crds reads
// them from the module itself; nothing of it is built or kept here.
module keybearer.dev/tests/monitoring

go 1.26.0

require github.com/prometheus-operator/prometheus-operator v0.85.0
