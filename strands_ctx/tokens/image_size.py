"""Width and height of an image, read from its header alone."""

from __future__ import annotations

import struct

_JPEG_SIZE_MARKERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_BARE_MARKERS = frozenset({0x01, *range(0xD0, 0xD8)})


def image_size(data: bytes) -> tuple[int, int] | None:
    """Read the size of a PNG, JPEG, GIF or WebP image.

    Args:
        data: The file, or its beginning.

    Returns:
        Width and height in pixels, both positive, or None where the header is of no known form or incomplete.
    """
    try:
        width, height = _size(data)
    except (struct.error, IndexError):
        return None
    return (width, height) if width > 0 and height > 0 else None


def _size(data: bytes) -> tuple[int, int]:
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return struct.unpack_from(">II", data, 16)
    if data[:6] in (b"GIF87a", b"GIF89a"):
        return struct.unpack_from("<HH", data, 6)
    if data.startswith(b"\xff\xd8"):
        return _jpeg_size(data)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return _webp_size(data)
    return 0, 0


def _jpeg_size(data: bytes) -> tuple[int, int]:
    at = 2
    while data[at] == 0xFF:
        marker = data[at + 1]
        if marker in _JPEG_SIZE_MARKERS:
            height, width = struct.unpack_from(">HH", data, at + 5)
            return width, height
        if marker == 0xFF:
            at += 1
        elif marker in _JPEG_BARE_MARKERS:
            at += 2
        else:
            at += 2 + struct.unpack_from(">H", data, at + 2)[0]
    return 0, 0


def _webp_size(data: bytes) -> tuple[int, int]:
    chunk = data[12:16]
    if chunk == b"VP8 ":
        width, height = struct.unpack_from("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    if chunk == b"VP8L":
        bits = struct.unpack_from("<I", data, 21)[0]
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if chunk == b"VP8X":
        low, high = struct.unpack_from("<IH", data, 24)
        return (low & 0xFFFFFF) + 1, (low >> 24 | high << 8) + 1
    return 0, 0
