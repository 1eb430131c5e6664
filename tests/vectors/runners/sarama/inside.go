//go:build inside

// This file is compiled inside the package sarama, which decodes fetch responses by types that it does not export:
// the build copies it into the vendored package.
package sarama

import (
	"encoding/binary"
	"math"
)

// ConsumedMessages returns the messages that a consumer at an offset delivers of the records of a fetch response,
// and the offset that it asks for next.
func ConsumedMessages(
	records []byte, offset int64, level IsolationLevel, aborted []AbortedTransaction,
) ([]*ConsumerMessage, int64, error) {
	const version = 4
	body := []byte{0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 't', 0, 0, 0, 1, 0, 0, 0, 0, 0, 0} // throttle, topics, partitions, error
	body = binary.BigEndian.AppendUint64(body, math.MaxInt64)                       // high watermark
	body = binary.BigEndian.AppendUint64(body, math.MaxInt64)                       // last stable offset
	count := uint32(len(aborted))
	if aborted == nil {
		count = math.MaxUint32 // null
	}
	body = binary.BigEndian.AppendUint32(body, count)
	for _, transaction := range aborted {
		body = binary.BigEndian.AppendUint64(body, uint64(transaction.ProducerID))
		body = binary.BigEndian.AppendUint64(body, uint64(transaction.FirstOffset))
	}
	body = binary.BigEndian.AppendUint32(body, uint32(len(records)))
	response := &FetchResponse{}
	if err := versionedDecode(append(body, records...), response, version, nil); err != nil {
		return nil, offset, err
	}
	configuration := NewConfig()
	configuration.Consumer.IsolationLevel = level
	consumer := &partitionConsumer{
		topic: "t", offset: offset, conf: configuration, fetchSize: 1,
		broker: &brokerConsumer{broker: NewBroker("")},
	}
	messages, err := consumer.parseResponse(response)
	return messages, consumer.offset, err
}
