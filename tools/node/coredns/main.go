// CoreDNS with the plugins that tools.node configures, and no others: half the packages to compile.
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/ready"
	_ "github.com/coredns/coredns/plugin/template"
)

func main() {
	// The order in which they are asked.
	dnsserver.Directives = []string{"ready", "errors", "kubernetes", "template"}
	coremain.Run()
}
