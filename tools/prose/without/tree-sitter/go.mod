// Takes the place of tree-sitter, whose parsers are written in C: see sitter.go.
module github.com/smacker/go-tree-sitter

go 1.25.0
