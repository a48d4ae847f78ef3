"""Media cost by kind and size: never 0, and never by the length of base64."""

from __future__ import annotations

import base64
import struct
import zlib

import pytest

from strands_ctx.tokens import CharacterCounter, media
from strands_ctx.tokens.image_size import image_size

LOCATION = {"location": {"type": "s3", "uri": "s3://bucket/key"}}


def png(width, height):
    """A PNG file's beginning."""
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header)) + bytes(50_000)


def jpeg(width, height):
    """A JPEG file's beginning: two application segments, a bare marker, fill bytes, a Huffman table, then the frame."""
    segments = (
        b"\xff\xe0\x00\x10" + bytes(14) + b"\xff\x01" + b"\xff\xe1\x00\x04\xff\xc0" + b"\xff\xff\xff\xc4\x00\x03\x00"
    )
    return b"\xff\xd8" + segments + b"\xff\xc2\x00\x11\x08" + struct.pack(">HH", height, width) + bytes(50_000)


def webp(kind, body):
    """A WebP file of one of its three forms."""
    return b"RIFF" + struct.pack("<I", 1_000) + b"WEBP" + kind + struct.pack("<I", len(body)) + body


IMAGES = {
    "png": png(1_000, 750),
    "jpeg": jpeg(1_000, 750),
    "gif": b"GIF89a" + struct.pack("<HH", 1_000, 750) + bytes(100),
    "webp lossy": webp(b"VP8 ", bytes(3) + b"\x9d\x01\x2a" + struct.pack("<HH", 1_000, 750)),
    "webp lossless": webp(b"VP8L", b"\x2f" + struct.pack("<I", 999 | 749 << 14)),
    "webp extended": webp(b"VP8X", bytes(4) + (999).to_bytes(3, "little") + (749).to_bytes(3, "little")),
}


@pytest.mark.parametrize("kind", IMAGES)
def test_the_size_of_an_image_is_read_from_its_header(kind):
    """Every format that the host knows."""
    assert (1_000, 750) == image_size(IMAGES[kind])


@pytest.mark.parametrize("kind", IMAGES)
def test_a_header_that_breaks_off_has_no_size(kind):
    """No prefix of a file raises, and a short one gives none."""
    sizes = {image_size(IMAGES[kind][:length]) for length in range(40)}
    assert sizes <= {None, (1_000, 750)}


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        (png(1_000, 750), 1_000),
        (png(1, 1), 1),
        (png(8_000, 8_000), 1_600),
        (png(0, 10), 1_600),
        (b"no image", 1_600),
        (b"", 1_600),
    ],
)
def test_an_image_costs_by_its_pixels(payload, expected):
    """A token for 750 pixels, 1,600 at most, and 1,600 where the size is unknown."""
    assert expected == media.image_tokens({"format": "png", "source": {"bytes": payload}})


def test_an_image_left_as_base64_costs_the_same():
    """Stores write bytes as base64; its length plays no part."""
    text = base64.b64encode(png(1_000, 750)).decode()
    assert 1_000 == media.image_tokens({"source": {"bytes": text}})


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"format": "txt", "source": {"bytes": b"word " * 100}}, "word " * 100),
        ({"format": "md", "source": {"text": "# Title"}}, "# Title"),
        ({"format": "txt", "source": {"content": [{"text": "one chunk"}]}}, "one chunk"),
        ({"format": "csv", "source": {"bytes": "ä,ö\n".encode()}}, "ä,ö\n"),
        ({"format": "html", "source": {"bytes": b"<p>\xff</p>"}}, "<p>\ufffd</p>"),
    ],
)
def test_a_document_of_text_costs_its_text(document, expected):
    """Text formats are decoded and counted, whatever the form of their source."""
    counter = CharacterCounter()
    assert counter.count_text(expected) == media.document_tokens(counter, document)


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"format": "pdf", "source": {"bytes": b"%PDF-1.7" + b"/Type /Page\n" * 3 + b"/Type /Pages"}}, 7_500),
        ({"format": "pdf", "source": {"bytes": b"%PDF-1.7" + bytes(99_000)}}, 5_000),
        ({"format": "pdf", "source": {"bytes": b""}}, 2_500),
        ({"format": "docx", "source": {"bytes": bytes(80_000)}}, 10_000),
        ({"source": {"bytes": bytes(80_000)}}, 10_000),
        ({"format": "pdf", "source": LOCATION}, 10_000),
        ({"format": "txt", "source": {"bytes": b""}}, 1),
        (None, 10_000),
    ],
)
def test_a_document_that_is_not_text_costs_by_kind_and_size(document, expected):
    """PDF by pages where they can be read, else by size; Word by size; a default where the bytes are elsewhere."""
    assert expected == media.document_tokens(CharacterCounter(), document)


def test_a_documents_name_is_counted():
    """A name is sent with the document."""
    counter = CharacterCounter()
    named = media.document_tokens(counter, {"name": "report", "format": "pdf", "source": LOCATION})
    assert 10_000 + counter.count_text("report") == named


@pytest.mark.parametrize(
    ("count", "source", "expected"),
    [
        (media.video_tokens, {"bytes": bytes(2_500_000)}, 2_900),
        (media.video_tokens, {"bytes": b""}, 290),
        (media.video_tokens, LOCATION, 17_400),
        (media.audio_tokens, {"bytes": bytes(160_000)}, 320),
        (media.audio_tokens, LOCATION, 1_920),
    ],
)
def test_video_and_audio_cost_by_their_length(count, source, expected):
    """Seconds are guessed from bytes; a minute where the bytes are elsewhere."""
    assert expected == count({"format": "mp4", "source": source})
