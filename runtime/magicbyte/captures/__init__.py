"""Record batches in captured traffic: from packets of a capture file to rows of tables.

The modules, in the order of the bytes: `_packets` reads the capture file, `_ip_segments` finds TCP in its
packets, `_tcp_stream` puts the bytes of a connection in order, `_framing` divides them into Kafka's
messages, `_connection` pairs requests with responses, `_exchanges` decodes them, `_entry_rows` decodes
the batches in them.
"""
