package serve

import "unsafe"

// node is a piece of the live heap. It is small and holds pointers, because the
// garbage collector works per object and per pointer: a single big block of
// bytes costs it nothing.
type node struct {
	children [fanout]*node
	_        [nodeBytes - 8*fanout]byte
}

const (
	fanout    = 4
	nodeBytes = 128 // a size class of the allocator, so that no byte is lost
)

var _ [nodeBytes]byte = [unsafe.Sizeof(node{})]byte{}

// newHeap returns a tree of about so many bytes. A tree, because the collector
// can walk one with several workers, unlike a list.
func newHeap(bytes int64) *node { return newTree(bytes / nodeBytes) }

func newTree(nodes int64) *node {
	if nodes <= 0 {
		return nil
	}
	n := &node{}
	nodes--
	for i := range n.children {
		share := nodes / int64(fanout-i)
		n.children[i] = newTree(share)
		nodes -= share
	}
	return n
}

const (
	pieceBytes = 8 << 10
	pageBytes  = 4 << 10
)

// allocate makes garbage for later: so many bytes in pieces, each page touched,
// since memory that is only reserved costs nothing.
func allocate(bytes int64) [][]byte {
	pieces := make([][]byte, 0, (bytes+pieceBytes-1)/pieceBytes)
	for ; bytes > 0; bytes -= pieceBytes {
		piece := make([]byte, min(bytes, pieceBytes))
		for at := 0; at < len(piece); at += pageBytes {
			piece[at] = 1
		}
		pieces = append(pieces, piece)
	}
	return pieces
}
