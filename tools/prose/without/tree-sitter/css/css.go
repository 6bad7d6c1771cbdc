// Package css names a grammar that is not here.
package css

import sitter "github.com/smacker/go-tree-sitter"

// GetLanguage returns the name of the grammar.
func GetLanguage() *sitter.Language { return &sitter.Language{Name: "css"} }
