meta:
  id: kafka_crc
  title: CRC-32C and CRC-32, as Apache Kafka uses them
  application: Apache Kafka
  tags:
    - checksum
  license: CC0-1.0
  ks-version: '0.11'
doc: |
  The checksum of a whole stream, worked out by the specification itself: one
  step per byte, each going on from the result of the one before. Slow, and
  meant for looking at single batches; a real reader computes it elsewhere.

  The 32 bits are kept as two halves of 16 bits, because JavaScript, and so
  the Web IDE, has signed 32-bit bitwise operators.
doc-ref: https://github.com/apache/kafka/blob/3.8.0/clients/src/main/java/org/apache/kafka/common/utils/Crc32C.java
params:
  - id: is_castagnoli
    type: bool
    doc: |
      Whether it is CRC-32C (of record batches and producer snapshots) rather
      than CRC-32 (of messages).
seq:
  - id: steps
    type: |
      step(
        _index == 0 ? 0xffff : steps[_index - 1].high,
        _index == 0 ? 0xffff : steps[_index - 1].low
      )
    repeat: eos
    -ours: true
    doc: One for every byte of the stream.
instances:
  value:
    value: >-
      ((0xffff - steps.last.high).as<u8> * 0x1_0000
      + (0xffff - steps.last.low).as<u8>).as<u8>
    doc: The checksum, to be compared with the stored one.
  high1:
    value: 'is_castagnoli ? 0x105e : 0x1db7'
    doc: Upper half of the polynomial for bit 0 of a nibble.
  low1:
    value: 'is_castagnoli ? 0xc76f : 0x1064'
    doc: Lower half of the polynomial for bit 0 of a nibble.
  high2:
    value: 'is_castagnoli ? 0x20bd : 0x3b6e'
    doc: Upper half of the polynomial for bit 1 of a nibble.
  low2:
    value: 'is_castagnoli ? 0x8ede : 0x20c8'
    doc: Lower half of the polynomial for bit 1 of a nibble.
  high4:
    value: 'is_castagnoli ? 0x417b : 0x76dc'
    doc: Upper half of the polynomial for bit 2 of a nibble.
  low4:
    value: 'is_castagnoli ? 0x1dbc : 0x4190'
    doc: Lower half of the polynomial for bit 2 of a nibble.
  high8:
    value: 'is_castagnoli ? 0x82f6 : 0xedb8'
    doc: Upper half of the polynomial for bit 3 of a nibble.
  low8:
    value: 'is_castagnoli ? 0x3b78 : 0x8320'
    doc: Lower half of the polynomial for bit 3 of a nibble.
types:
  step:
    doc: One byte, taken in two nibbles.
    -webide-representation: '{data:hex}'
    params:
      - id: prev_high
        type: s4
        doc: Upper half of the register before this byte.
      - id: prev_low
        type: s4
        doc: Lower half of the register before this byte.
    seq:
      - id: data
        type: u1
        -ours: true
        doc: The byte.
    instances:
      nibble1:
        value: (prev_low ^ data) & 0xf
        doc: Lower nibble of the byte, with what the register adds to it.
      high_after1:
        value: >-
          (prev_high >> 4)
          ^ (nibble1 % 2 * _root.high1)
          ^ (nibble1 / 2 % 2 * _root.high2)
          ^ (nibble1 / 4 % 2 * _root.high4)
          ^ (nibble1 / 8 * _root.high8)
        doc: Upper half of the register after the lower nibble.
      low_after1:
        value: >-
          ((prev_low >> 4) + (prev_high & 0xf) * 0x1000)
          ^ (nibble1 % 2 * _root.low1)
          ^ (nibble1 / 2 % 2 * _root.low2)
          ^ (nibble1 / 4 % 2 * _root.low4)
          ^ (nibble1 / 8 * _root.low8)
        doc: Lower half of the register after the lower nibble.
      nibble2:
        value: (low_after1 ^ (data >> 4)) & 0xf
        doc: Upper nibble of the byte, with what the register adds to it.
      high:
        value: >-
          ((high_after1 >> 4)
          ^ (nibble2 % 2 * _root.high1)
          ^ (nibble2 / 2 % 2 * _root.high2)
          ^ (nibble2 / 4 % 2 * _root.high4)
          ^ (nibble2 / 8 * _root.high8)).as<s4>
        doc: Upper half of the register after this byte.
      low:
        value: >-
          (((low_after1 >> 4) + (high_after1 & 0xf) * 0x1000)
          ^ (nibble2 % 2 * _root.low1)
          ^ (nibble2 / 2 % 2 * _root.low2)
          ^ (nibble2 / 4 % 2 * _root.low4)
          ^ (nibble2 / 8 * _root.low8)).as<s4>
        doc: Lower half of the register after this byte.
