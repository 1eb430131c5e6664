package main

import (
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

// pool reuses what franz-go decompresses into and what it makes records in: the fastest way that it offers.
type pool struct {
	payloads sync.Pool
	records  sync.Pool
}

func (p *pool) GetDecompressBytes(compressed []byte, _ kgo.CompressionCodecType) []byte {
	if payload, ok := p.payloads.Get().(*[]byte); ok {
		return *payload
	}
	return make([]byte, 0, 4*len(compressed))
}

func (p *pool) PutDecompressBytes(payload []byte) {
	p.payloads.Put(&payload)
}

func (p *pool) GetRecords(count int) []kgo.Record {
	if records, ok := p.records.Get().(*[]kgo.Record); ok && cap(*records) >= count {
		return *records
	}
	return make([]kgo.Record, 0, count+count/4)
}

func (p *pool) PutRecords(records []kgo.Record) {
	p.records.Put(&records)
}
