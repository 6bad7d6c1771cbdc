// Package sitter has the names that Vale uses of tree-sitter, and no parser: tree-sitter is C, and our programs are
// built without a C compiler. So this Vale refuses source code. It reads Markdown, which needs no tree-sitter.
package sitter

import (
	"context"
	"errors"
)

var errNoParser = errors.New("this Vale is built without parsers of source code: give it Markdown")

// Language is a grammar that is not here.
type Language struct{ Name string }

// Parser refuses every text.
type Parser struct{}

// NewParser returns a parser that refuses every text.
func NewParser() *Parser { return &Parser{} }

// SetLanguage changes nothing.
func (*Parser) SetLanguage(*Language) {}

// ParseCtx returns an error.
func (*Parser) ParseCtx(context.Context, *Tree, []byte) (*Tree, error) { return nil, errNoParser }

// Query can't be made.
type Query struct{}

// NewQuery returns an error.
func NewQuery([]byte, *Language) (*Query, error) { return nil, errNoParser }

// CaptureNameForId has no query to look at.
func (*Query) CaptureNameForId(uint32) string { panic(errNoParser) }

// Tree can't be made, and so none of the types below; their methods are there for the compiler.
type Tree struct{}

// RootNode has no tree to look at.
func (*Tree) RootNode() *Node { panic(errNoParser) }

// Point is a place in a text.
type Point struct{ Row, Column uint32 }

// Node is a part of a tree.
type Node struct{}

// Content has no tree to look at.
func (*Node) Content([]byte) string { panic(errNoParser) }

// StartPoint has no tree to look at.
func (*Node) StartPoint() Point { panic(errNoParser) }

// QueryCapture is a node that a query found.
type QueryCapture struct {
	Index uint32
	Node  *Node
}

// QueryMatch is what a query found.
type QueryMatch struct{ Captures []QueryCapture }

// QueryCursor runs a query.
type QueryCursor struct{}

// NewQueryCursor has no tree to look at.
func NewQueryCursor() *QueryCursor { panic(errNoParser) }

// Exec has no tree to look at.
func (*QueryCursor) Exec(*Query, *Node) { panic(errNoParser) }

// NextMatch has no tree to look at.
func (*QueryCursor) NextMatch() (*QueryMatch, bool) { panic(errNoParser) }

// FilterPredicates has no tree to look at.
func (*QueryCursor) FilterPredicates(*QueryMatch, []byte) *QueryMatch { panic(errNoParser) }
