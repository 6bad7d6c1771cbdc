// Package elm names a grammar that is not here.
package elm

import sitter "github.com/smacker/go-tree-sitter"

// GetLanguage returns the name of the grammar.
func GetLanguage() *sitter.Language { return &sitter.Language{Name: "elm"} }
