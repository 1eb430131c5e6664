package main

import "github.com/twmb/franz-go/pkg/kgo"

// chunkBytes is how much the columns hold before they are emptied.
const chunkBytes = 4 << 20

// byteStrings has byte strings and their ends, as an Arrow binary column has them.
type byteStrings struct {
	data []byte
	ends []int32
}

func (b *byteStrings) add(value []byte) {
	b.data = append(b.data, value...)
	b.ends = append(b.ends, int32(len(b.data)))
}

func (b *byteStrings) addString(value string) {
	b.data = append(b.data, value...)
	b.ends = append(b.ends, int32(len(b.data)))
}

func (b *byteStrings) clear() {
	b.data, b.ends = b.data[:0], b.ends[:0]
}

type columns struct {
	offsets, timestamps                    []int64
	keys, values, headerKeys, headerValues byteStrings
	headerEnds                             []int32
	weighted, last                         int64
}

func (c *columns) begin() {
	c.weighted, c.last = 0, 0
}

func (c *columns) add(record *kgo.Record) {
	c.offsets = append(c.offsets, record.Offset)
	c.timestamps = append(c.timestamps, timestamp(record))
	c.keys.add(record.Key)
	c.values.add(record.Value)
	for i := range record.Headers {
		c.headerKeys.addString(record.Headers[i].Key)
		c.headerValues.add(record.Headers[i].Value)
	}
	c.headerEnds = append(c.headerEnds, int32(len(c.headerKeys.ends)))
}

// timestamp returns milliseconds since the epoch; -1 for a v0 message, which has none.
func timestamp(record *kgo.Record) int64 {
	if record.Timestamp.IsZero() {
		return -1
	}
	return record.Timestamp.UnixMilli()
}

func (c *columns) emptyIfFull() {
	size := 20*len(c.offsets) + len(c.keys.data) + len(c.values.data) + len(c.headerKeys.data) + len(c.headerValues.data)
	if size >= chunkBytes {
		c.empty()
	}
}

func (c *columns) empty() {
	rows := len(c.offsets)
	if rows == 0 {
		return
	}
	c.weighted += 31*int64(len(c.keys.data)) + 37*int64(len(c.values.data)) +
		41*int64(len(c.headerKeys.data)) + 43*int64(len(c.headerValues.data))
	c.last = c.offsets[rows-1] + c.timestamps[rows-1]
	c.offsets, c.timestamps, c.headerEnds = c.offsets[:0], c.timestamps[:0], c.headerEnds[:0]
	for _, column := range []*byteStrings{&c.keys, &c.values, &c.headerKeys, &c.headerValues} {
		column.clear()
	}
}

// checksum is that of checksum.py.
func (c *columns) checksum() int64 {
	return c.weighted + c.last
}
