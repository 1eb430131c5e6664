meta:
  id: kafka_varlong
  title: Apache Kafka signed variable-length integer, up to 64 bits
  application: Apache Kafka
  xref:
    wikidata: Q6457577
  tags:
    - serialization
  license: CC0-1.0
  ks-version: '0.11'
doc: |
  A signed 64-bit integer in 1 to 10 bytes: `VARLONG` in Kafka's protocol
  guide. The encoding is that of `kafka_varint`, only longer; an 11th byte is
  an error.

  In JavaScript, and so in the Web IDE, a result beyond `2**53` is rounded.
doc-ref:
  - https://protobuf.dev/programming-guides/encoding/#signed-ints
  - https://kafka.apache.org/protocol#protocol_types
-primitive: {encoding: zigzag, bits: 64, max-bytes: 10}
-webide-representation: '{value:dec}'
seq:
  - id: groups
    type: u1
    repeat: until
    repeat-until: _ < 0x80 or groups.size == 9
    -ours: true
    doc: Seven bits each, and on top a flag that says that another byte follows.
  - id: last_group
    type: u1
    valid:
      max: 0x7f
    if: has_last_group
    -ours: true
    doc: |
      The 10th byte, which has no flag to continue. Only its lowest bit
      counts; readers ignore the other six, writers leave them clear.
instances:
  has_last_group:
    value: groups.last >= 0x80
    doc: Whether there is a 10th byte.
  num_bytes:
    value: '(groups.size.as<s4> + (has_last_group ? 1 : 0).as<s4>).as<s4>'
    doc: Number of bytes that this integer takes.
  is_negative:
    value: groups[0] % 2 != 0
    doc: The sign, which is the lowest bit of the zigzag-mapped number.
  low_bits:
    value: >-
      ((groups[0] & 0x7f).as<s4> / 2
      + ((groups.size > 1 ? groups[1] : 0) & 0x7f).as<s4> * 0x40
      + ((groups.size > 2 ? groups[2] : 0) & 0x7f).as<s4> * 0x2000
      + ((groups.size > 3 ? groups[3] : 0) & 0x7f).as<s4> * 0x10_0000).as<s8>
    doc: Bits 0 to 26 of the magnitude.
  middle_bits:
    value: >-
      (((groups.size > 4 ? groups[4] : 0) & 0x7f).as<s4>
      + ((groups.size > 5 ? groups[5] : 0) & 0x7f).as<s4> * 0x80
      + ((groups.size > 6 ? groups[6] : 0) & 0x7f).as<s4> * 0x4000
      + ((groups.size > 7 ? groups[7] : 0) & 0x7f).as<s4> * 0x20_0000).as<s8>
    doc: Bits 27 to 54 of the magnitude.
  high_bits:
    value: >-
      (((groups.size > 8 ? groups[8] : 0) & 0x7f).as<s4>
      + ((has_last_group ? last_group : 0) & 0x01).as<s4> * 0x80).as<s8>
    doc: Bits 55 to 62 of the magnitude.
  magnitude:
    value: >-
      ((low_bits
      + (middle_bits * (0x800_0000).as<s8>).as<s8>).as<s8>
      + (high_bits * (0x80_0000_0000_0000).as<s8>).as<s8>).as<s8>
    doc: The zigzag-mapped number without its sign bit.
  value:
    value: 'is_negative ? ((-1).as<s8> - magnitude).as<s8> : magnitude'
    doc: The integer itself.
