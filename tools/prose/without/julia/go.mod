// Takes the place of the parser of Julia, which is written in C: see ../tree-sitter/sitter.go.
module github.com/jdkato/go-tree-sitter-julia

go 1.25.0

require github.com/smacker/go-tree-sitter v0.0.0-20240827094217-dd81d9e9be82
