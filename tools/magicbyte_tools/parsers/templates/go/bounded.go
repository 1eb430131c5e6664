package kafkaformats

import (
	"fmt"

	"github.com/kaitai-io/kaitai_struct_go_runtime/kaitai"
)

// readBounded reads bytes as the stream does, but compares their number with what is left before memory is reserved
// for them.
func readBounded(stream *kaitai.Stream, length int) ([]byte, error) {
	size, err := stream.Size()
	if err != nil {
		return nil, err
	}
	position, err := stream.Pos()
	if err != nil {
		return nil, err
	}
	if length < 0 || int64(length) > size-position {
		return nil, fmt.Errorf("%d bytes are stated; %d are left", length, size-position)
	}
	return stream.ReadBytes(length)
}
