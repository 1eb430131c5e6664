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
func ConsumedMessages(records []byte, offset int64) ([]*ConsumerMessage, int64, error) {
	const version = 4
	body := []byte{0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 't', 0, 0, 0, 1, 0, 0, 0, 0, 0, 0} // throttle, topics, partitions, error
	body = binary.BigEndian.AppendUint64(body, math.MaxInt64)                       // high watermark
	body = binary.BigEndian.AppendUint64(body, math.MaxInt64)                       // last stable offset
	body = binary.BigEndian.AppendUint32(body, math.MaxUint32)                      // no aborted transactions
	body = binary.BigEndian.AppendUint32(body, uint32(len(records)))
	response := &FetchResponse{}
	if err := versionedDecode(append(body, records...), response, version, nil); err != nil {
		return nil, offset, err
	}
	consumer := &partitionConsumer{
		topic: "t", offset: offset, conf: NewConfig(), fetchSize: 1,
		broker: &brokerConsumer{broker: NewBroker("")},
	}
	messages, err := consumer.parseResponse(response)
	return messages, consumer.offset, err
}
