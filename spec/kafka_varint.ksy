meta:
  id: kafka_varint
  title: Apache Kafka signed variable-length integer, up to 32 bits
  application: Apache Kafka
  xref:
    wikidata: Q6457577
  tags:
    - serialization
  license: CC0-1.0
  ks-version: '0.11'
doc: |
  A signed 32-bit integer in 1 to 5 bytes: `VARINT` in Kafka's protocol guide.

  The number is first zigzag-mapped to an unsigned one (0, -1, 1, -2, 2 become
  0, 1, 2, 3, 4) and then cut into groups of 7 bits, the least significant
  group first. The top bit of a byte says that another byte follows.

  Kafka's reader accepts forms that are longer than need be, and so does this
  one. A 6th byte is an error.

  The groups are combined with `+` and `*` only, because in JavaScript, and so
  in the Web IDE, `<<`, `|` and `^` cut every number to 32 bits. The magnitude
  is built without the sign bit, so nothing ever needs an unsigned type.
doc-ref:
  - https://protobuf.dev/programming-guides/encoding/#signed-ints
  - https://kafka.apache.org/protocol#protocol_types
-primitive: {encoding: zigzag, bits: 32, max-bytes: 5}
-webide-representation: '{value:dec}'
seq:
  - id: groups
    type: u1
    repeat: until
    repeat-until: _ < 0x80 or groups.size == 4
    -ours: true
    doc: Seven bits each, and on top a flag that says that another byte follows.
  - id: last_group
    type: u1
    valid:
      max: 0x7f
    if: has_last_group
    -ours: true
    doc: |
      The 5th byte, which has no flag to continue. Only its lowest 4 bits
      count; readers ignore the other three, writers leave them clear.
instances:
  has_last_group:
    value: groups.last >= 0x80
    doc: Whether there is a 5th byte.
  num_bytes:
    value: '(groups.size.as<s4> + (has_last_group ? 1 : 0).as<s4>).as<s4>'
    doc: Number of bytes that this integer takes.
  is_negative:
    value: groups[0] % 2 != 0
    doc: The sign, which is the lowest bit of the zigzag-mapped number.
  magnitude:
    value: >-
      ((groups[0] & 0x7f).as<s4> / 2
      + ((groups.size > 1 ? groups[1] : 0) & 0x7f).as<s4> * 0x40
      + ((groups.size > 2 ? groups[2] : 0) & 0x7f).as<s4> * 0x2000
      + ((groups.size > 3 ? groups[3] : 0) & 0x7f).as<s4> * 0x10_0000
      + ((has_last_group ? last_group : 0) & 0x0f).as<s4> * 0x800_0000).as<s4>
    doc: The zigzag-mapped number without its sign bit.
  value:
    value: 'is_negative ? (-1 - magnitude).as<s4> : magnitude'
    doc: The integer itself.
