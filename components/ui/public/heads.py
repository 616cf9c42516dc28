"""Heads: how much uvicorn reads of a request before its body, with httptools, which reads on for good."""

from httptools import HttpParserError
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_BYTES = 65_536  # of an address and headers


class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's connection, which ends where neither a body nor the end of a request comes in time.

    A head may have twice HEAD_BYTES, so that the guard can say what is allowed.
    """

    _unheard = 0  # bytes that have come since

    def data_received(self, data: bytes) -> None:
        """Take what has come."""
        self._unheard += len(data)
        super().data_received(data)
        if self._unheard > 2 * HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response("A head has no end.")

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header, or a trailer of a body."""
        if len(self.headers) >= 200:  # a browser sends 20
            raise HttpParserError("too many headers")
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Take a head; where it asks for another protocol, httptools takes the body for the next request."""
        if self.parser.should_upgrade() and {b"content-length", b"transfer-encoding"} & {*dict(self.headers)}:
            raise HttpParserError("a body in another protocol")
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take some of a body; pieces of a byte are mostly what stands around them."""
        if not self.cycle.response_complete:  # else nobody reads it
            self._unheard = max(0, self._unheard - 4 * len(body))
        super().on_body(body)

    def on_message_begin(self) -> None:
        """Take the next request; uvicorn would make all that come before the last one's answer at once."""
        self._unheard = 0
        if self.cycle is not None and not self.cycle.response_complete:
            raise HttpParserError("a request before the last one's answer")
        super().on_message_begin()
