"""Codes for captured traffic: capture files, TCP connections, requests and responses."""

from magicbyte._finding_codes._code import OUR_RULE, Code

CAPTURE_AGAIN = (
    "Capture again, with larger buffers (`tcpdump -B 65536`) and only the broker's port."
)
PROTOCOL = "Kafka's protocol: the message definitions of clients/src/main/resources/common/message"
FORMATS = "draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng"

CAPTURES = (
    Code(
        "capture-truncated",
        "warning",
        "A capture ends inside a packet.",
        cause="The capture was copied while it was written, or the tool was killed.",
        consequence="The last packet is missing. Everything before it was read.",
        remedy="Stop the tool with an interrupt, or copy the file when it is finished.",
        source=FORMATS,
    ),
    Code(
        "capture-damaged",
        "error",
        "A length or a number in a capture file is impossible.",
        cause="Bytes of the file were changed or are missing, or a tool wrote it wrongly.",
        consequence="Packets after it are not read if the length does not lead to them.",
        remedy="Compare with the original file. `editcap` of Wireshark may write the packets before it to a new one.",
        source=FORMATS,
    ),
    Code(
        "capture-packet-cut",
        "warning",
        "Packets of a capture are cut off.",
        cause="The capture tool had a limit on the bytes of a packet (snapshot length).",
        consequence="Requests and responses in these packets are lost: see capture-bytes-missing.",
        remedy="Capture again with whole packets: `tcpdump -s 0`.",
        source=FORMATS,
    ),
    Code(
        "capture-link-type",
        "warning",
        "A capture has packets of a link layer that is not supported.",
        cause="The packets were captured on an interface of another kind, such as a tunnel.",
        consequence="These packets are not read.",
        remedy="Capture on the interface `any`, or on the network card.",
        source="the list of link-layer header types of tcpdump.org",
    ),
    Code(
        "capture-ip-fragment",
        "warning",
        "A capture has fragments of IP packets.",
        cause="A packet was larger than the network takes. TCP usually avoids this.",
        consequence="The fragments are not put together; requests and responses in them are lost.",
        remedy="Capture on the broker's own machine, before packets are divided.",
        source="RFC 791, RFC 8200",
    ),
    Code(
        "capture-encrypted",
        "warning",
        "Connections are encrypted with TLS.",
        cause="The listener is SSL or SASL_SSL, or it is another service.",
        consequence="Nothing can be read from them.",
        remedy="Decrypt the capture first, or capture on a listener without TLS. `--port` leaves other services out.",
        source="RFC 8446",
    ),
    Code(
        "capture-bytes-missing",
        "error",
        "Bytes of a connection were not captured.",
        cause="The capture tool dropped packets, the packets are cut off, or they took another way.",
        consequence="Requests and responses in these bytes are lost. Reading goes on at the next one.",
        remedy=CAPTURE_AGAIN,
        source="RFC 9293",
    ),
    Code(
        "capture-messages-lost",
        "warning",
        "Requests or responses of a connection could not be read.",
        cause="Bytes of them were not captured, they are larger than max_entry_bytes, or they are not framed as Kafka's.",
        consequence="Records in them are missing.",
        remedy=f"See capture-bytes-missing of the same connection. {CAPTURE_AGAIN}",
        source=PROTOCOL,
    ),
    Code(
        "capture-response-alone",
        "note",
        "The request of a response was not captured.",
        cause="The capture began when the request had been sent already, or packets were dropped.",
        consequence="The response is not read: without its request it is not known what it is.",
        remedy="Nothing to do at the beginning of a capture.",
        source=PROTOCOL,
    ),
    Code(
        "capture-unknown-version",
        "error",
        "A request has a version that is not known.",
        cause="The client and the broker are newer than magicbyte, or it is not a request of Kafka.",
        consequence="The request and its response are not read.",
        remedy="Use a newer magicbyte, or limit the client to older versions.",
        source=PROTOCOL,
    ),
    Code(
        "capture-message-invalid",
        "error",
        "A request or response does not decode.",
        cause="A client or a proxy wrote it wrongly, or bytes were changed.",
        consequence="Records in it are missing.",
        remedy="Look at the packet with Wireshark. If that decodes it, report it with the capture.",
        source=PROTOCOL,
    ),
    Code(
        "capture-topic-unnamed",
        "note",
        "A topic is known by its id only.",
        cause="Clients name topics by ids (Produce 13, Fetch 13), and no response of Metadata in the capture has the name.",
        consequence="The topic of the records is null; their topic_id is set.",
        remedy="Begin the capture before the client starts, or look the id up in `partition.metadata` or with `magicbyte topics`.",
        source=OUR_RULE,
    ),
)
