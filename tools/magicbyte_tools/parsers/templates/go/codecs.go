package kafkaformats

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// A Decompressor decompresses the payload of an entry of the given magic. Its result must not have more than limit
// bytes; where it would, and where the payload is not valid, it returns an error.
type Decompressor func(payload []byte, magic int8, limit int64) ([]byte, error)

// Decompressors returns the decompressor of each codec, by its number. To use other libraries, change the map
// and set it as Reader.Decompressors.
func Decompressors() map[int]Decompressor {
	return map[int]Decompressor{1: gunzip, 2: unsnappy, 3: unlz4, 4: unzstd}
}

func readAll(from io.Reader, into []byte, limit int64) ([]byte, error) {
	buffer := bytes.NewBuffer(into)
	count, err := io.Copy(buffer, io.LimitReader(from, limit-int64(len(into))+1))
	if err != nil {
		return nil, err
	}
	if int64(len(into))+count > limit {
		return nil, fmt.Errorf("more than %d bytes decompressed, which is the limit", limit)
	}
	return buffer.Bytes(), nil
}

// gunzip reads members that follow one another as one stream, and ignores other bytes behind a member, as Java does.
func gunzip(payload []byte, _ int8, limit int64) ([]byte, error) {
	source := bytes.NewReader(payload)
	member, err := gzip.NewReader(source)
	if err != nil {
		return nil, fmt.Errorf("gzip: %w", err)
	}
	var output []byte
	for {
		member.Multistream(false)
		if output, err = readAll(member, output, limit); err != nil {
			return nil, fmt.Errorf("gzip: %w", err)
		}
		if err := member.Reset(source); err != nil {
			return output, nil
		}
	}
}

var xerial = []byte("\x82SNAPPY\x00")

// unsnappy reads one raw block, or the chunks of xerial's snappy-java, which Java clients write.
func unsnappy(payload []byte, _ int8, limit int64) ([]byte, error) {
	if len(payload) < 16 || !bytes.HasPrefix(payload, xerial) {
		return snappyBlock(payload, limit)
	}
	var output []byte
	rest := payload[16:]
	for len(rest) >= 4 {
		if bytes.HasPrefix(rest, xerial) && len(rest) >= 16 { // another stream follows
			if int32(binary.BigEndian.Uint32(rest[8:])) < 1 {
				return nil, errors.New("snappy: another stream of a version that does not exist")
			}
			rest = rest[16:]
			continue
		}
		length := int64(int32(binary.BigEndian.Uint32(rest)))
		rest = rest[4:]
		if length < 0 || length > int64(len(rest)) {
			return nil, fmt.Errorf("snappy: a chunk of %d bytes; %d are left", length, len(rest))
		}
		block, err := snappyBlock(rest[:length], limit-int64(len(output)))
		if err != nil {
			return nil, err
		}
		output = append(output, block...)
		rest = rest[length:]
	}
	if len(rest) > 0 {
		return nil, errors.New("snappy: the payload ends inside the length of a chunk")
	}
	return output, nil
}

// snappyBlock compares the size that a block states with the limit, and with what its bytes can hold, before the
// library reserves it.
func snappyBlock(block []byte, limit int64) ([]byte, error) {
	size, read := binary.Uvarint(block)
	if read <= 0 || size > uint64(limit) {
		return nil, fmt.Errorf("snappy: %d bytes decompressed; the limit is %d", size, limit)
	}
	if size > 22*uint64(len(block)) { // three bytes stand for 64 at most
		return nil, fmt.Errorf("snappy: %d bytes cannot hold %d", len(block), size)
	}
	return s2.Decode(nil, block)
}

// unlz4 reads the part of the LZ4 frame format that Kafka reads: one frame of independent blocks. Kafka wrote a wrong
// header checksum into messages of magic 0 (KAFKA-3160), so it is not looked at there; size and
// checksum of the content never are.
func unlz4(payload []byte, magic int8, limit int64) ([]byte, error) {
	if len(payload) < 7 || binary.LittleEndian.Uint32(payload) != 0x184D2204 {
		return nil, errors.New("lz4: this is not an LZ4 frame")
	}
	flags, descriptor := payload[4], payload[5]
	if flags&0xE3 != 0x60 || descriptor&0x8F != 0 || descriptor>>4 < 4 {
		return nil, fmt.Errorf("lz4: frame descriptor %x is one that Kafka does not read", payload[4:6])
	}
	most, checked, header := 1<<(8+2*(descriptor>>4)), flags&0x10 != 0, 6
	if flags&0x08 != 0 {
		header = 14
	}
	if header >= len(payload) {
		return nil, errors.New("lz4: the payload ends inside the header")
	}
	if magic > 0 && payload[header] != byte(xxh32(payload[4:header])>>8) {
		return nil, errors.New("lz4: wrong header checksum")
	}
	rest := payload[header+1:]
	var output []byte
	for {
		if len(rest) < 4 {
			return nil, errors.New("lz4: the payload has no end mark")
		}
		word := binary.LittleEndian.Uint32(rest)
		length, stored, behind := int(word&0x7FFFFFFF), word>>31 != 0, 0
		rest = rest[4:]
		if length == 0 {
			if flags&0x04 != 0 && len(rest) < 4 {
				return nil, errors.New("lz4: the payload ends before the checksum of the content")
			}
			return output, nil
		}
		if checked {
			behind = 4
		}
		if length > most || length+behind > len(rest) {
			return nil, fmt.Errorf("lz4: a block of %d bytes; %d are left", length, len(rest))
		}
		block := rest[:length]
		if checked && binary.LittleEndian.Uint32(rest[length:]) != xxh32(block) {
			return nil, errors.New("lz4: wrong block checksum")
		}
		rest = rest[length+behind:]
		if !stored {
			content := make([]byte, min(most, 255*length))
			size, err := lz4.UncompressBlock(block, content)
			if err != nil {
				return nil, fmt.Errorf("lz4: %w", err)
			}
			block = content[:size]
		}
		if len(block) == 0 { // Kafka takes an empty block for the end
			return output, nil
		}
		if int64(len(output)+len(block)) > limit {
			return nil, fmt.Errorf("lz4: more than %d bytes decompressed, which is the limit", limit)
		}
		output = append(output, block...)
	}
}

// unzstd reads frames that follow one another as one stream.
func unzstd(payload []byte, _ int8, limit int64) ([]byte, error) {
	decoder, err := zstd.NewReader(bytes.NewReader(payload), zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(1<<27))
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	defer decoder.Close()
	output, err := readAll(decoder, nil, limit)
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	return output, nil
}

// xxh32 returns the xxHash of 32 bits, with the seed 0, that LZ4 frames have as checksums.
func xxh32(data []byte) uint32 {
	const p1, p2, p3, p4, p5 = 2654435761, 2246822519, 3266489917, 668265263, 374761393
	value := uint32(p5)
	rest := data
	if len(data) >= 16 {
		seed := uint32(0)
		lanes := [4]uint32{seed + p1, seed + p2, seed, seed - p1}
		lanes[0] += p2
		for ; len(rest) >= 16; rest = rest[16:] {
			for lane := range lanes {
				mixed := lanes[lane] + binary.LittleEndian.Uint32(rest[4*lane:])*p2
				lanes[lane] = bits.RotateLeft32(mixed, 13) * p1
			}
		}
		value = bits.RotateLeft32(lanes[0], 1) + bits.RotateLeft32(lanes[1], 7) +
			bits.RotateLeft32(lanes[2], 12) + bits.RotateLeft32(lanes[3], 18)
	}
	value += uint32(len(data))
	for ; len(rest) >= 4; rest = rest[4:] {
		value = bits.RotateLeft32(value+binary.LittleEndian.Uint32(rest)*p3, 17) * p4
	}
	for _, each := range rest {
		value = bits.RotateLeft32(value+uint32(each)*p5, 11) * p1
	}
	value = (value ^ value>>15) * p2
	value = (value ^ value>>13) * p3
	return value ^ value>>16
}
