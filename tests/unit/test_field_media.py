"""Cases from the field: images and documents, too many or too large."""

from __future__ import annotations

import base64
import copy

import pytest
from strands import Agent

from strands_ctx import BudgetSuffixManager, CapToolResultsManager, PerTurnManager
from strands_ctx.messages import check_messages
from strands_ctx.plans import Boundaries, Policy
from strands_ctx.testing import WindowModel
from tests.builders import assistant, cycle, limits_of, planned, result, texts, use, user


def screenshots(count: int, *, own: bool) -> list:
    """Messages with one image each: of the user's own, or in tool results."""
    images = [{"image": {"format": "png", "source": {"bytes": f"picture {n}".encode()}}} for n in range(count)]
    if own:
        return [message for image in images for message in (user("look", image), assistant("seen"))]
    log = [message for n in range(count) for message in cycle(f"c{n}")]
    for image, message in zip(images, log[1::2], strict=True):
        message["content"][0]["toolResult"]["content"] = [image]
    return [user("look"), *log]


def images_of(messages) -> list[bytes]:
    """The bytes of all images, those of results included."""
    items = [item for m in messages for b in m["content"] for item in b.get("toolResult", {}).get("content", [b])]
    return [item["image"]["source"]["bytes"] for item in items if "image" in item]


@pytest.mark.parametrize("own", [True, False])
def test_of_many_images_the_newest_twenty_stay(own):
    """S12: older ones become a line of text, in the view only, and the receipt counts them."""
    log = screenshots(33, own=own)
    before = copy.deepcopy(log)
    plan, view = planned(log, limits_of(10**6), max_media=20)
    assert ([f"picture {n}".encode() for n in range(13, 33)], 13) == (images_of(view), plan.replaced_media)
    assert (before, ["[image: png, 9 bytes]"]) == (log, texts(view[0 if own else 2])[-1:])


def test_twenty_images_are_the_log():
    """S12: up to the limit nothing is touched."""
    log = screenshots(20, own=False)
    plan, view = planned(log, limits_of(10**6), max_media=20)
    assert (0, True) == (plan.replaced_media, all(a is b for a, b in zip(log, view, strict=True)))


@pytest.mark.parametrize("kind", [BudgetSuffixManager, CapToolResultsManager, PerTurnManager])
@pytest.mark.parametrize(("arguments", "stay"), [({}, 20), ({"max_media_per_request": 3}, 3)])
def test_how_many_stay_is_a_setting_of_each_manager(kind, arguments, stay):
    """S12: twenty where an app says nothing."""
    manager, log = kind(**arguments), screenshots(23, own=True)
    agent = Agent(WindowModel(["done"]), messages=copy.deepcopy(log), conversation_manager=manager)
    assert [f"picture {n}".encode() for n in range(23 - stay, 23)] == images_of(manager.view(agent))
    assert images_of(log) == images_of(agent.messages)


def test_media_that_are_left_out_with_their_message_are_not_counted_as_replaced():
    """S12: after a cut, only what is in the view."""
    log = [*screenshots(25, own=True), user("so"), assistant("yes")]
    plan, view = planned(log, limits_of(17_000, 9_000), max_media=20)
    assert (True, 0, []) == (plan.cut > 10, plan.replaced_media, check_messages(view))


@pytest.mark.parametrize(
    "source",
    [
        {"bytes": b"%PDF-1.7 " + bytes(200_000)},
        {"text": "word " * 40_000},
        {"content": [{"text": "word " * 40_000}]},
        {"location": {"type": "s3", "uri": "s3://bucket/paper.pdf"}},
    ],
    ids=["bytes", "text", "content", "s3"],
)
def test_a_document_that_does_not_fit_becomes_a_placeholder(source):
    """S11: with kind, format, name and size, whatever its source; in a result and in a prompt."""
    document = {"document": {"format": "pdf", "name": "paper", "source": source}}
    answer = user({"toolResult": {"toolUseId": "a", "status": "success", "content": [document]}})
    for log in ([user("read", document)], [user("read"), assistant(use("a")), answer]):
        plan, view = planned(log, limits_of(1_000))
        assert ("newest", True) == (plan.reason, texts(view[-1])[-1].startswith('[document: pdf, "paper"'))


def test_after_a_cut_the_receipt_counts_what_the_view_replaces():
    """S12: not what was replaced before the cut."""
    plan, view = planned(screenshots(45, own=True), limits_of(3_800, 3_600), max_media=2)
    replaced = sum(text.startswith("[image: ") for message in view for text in texts(message))
    assert (True, True, replaced) == (plan.cut > 10, replaced > 5, plan.replaced_media)


S3 = {"location": {"type": "s3", "uri": "s3://bucket/key"}}
MEDIA = {
    "image": {"image": {"format": "png", "source": {"bytes": bytes(1_000_000)}}},
    "image in S3": {"image": {"format": "png", "source": S3}},
    "document": {"document": {"format": "pdf", "name": "a", "source": {"bytes": b"%PDF-1.7 " + bytes(999_991)}}},
    "document of text": {"document": {"format": "txt", "name": "a", "source": {"text": "word " * 200_000}}},
    "document of content": {
        "document": {"format": "txt", "name": "a", "source": {"content": [{"text": "word " * 200_000}]}}
    },
    "document in S3": {"document": {"format": "pdf", "name": "a", "source": S3}},
    "video": {"video": {"format": "mp4", "source": {"bytes": bytes(1_000_000)}}},
    "video in S3": {"video": {"format": "mp4", "source": S3}},
}


def answered(content: dict) -> list:
    """A prompt, a call, and a result with one item."""
    answer = result("a")
    answer["toolResult"]["content"] = [content]
    return [user("read"), assistant(use("a")), user(answer)]


@pytest.mark.parametrize("kind", MEDIA)
def test_media_that_fit_are_counted_and_kept(kind):
    """S11: never 0, and never as the text that their base64 would be."""
    log = answered(MEDIA[kind])
    plan, view = planned(log, limits_of(10**6))
    tokens = plan.view_tokens - planned(answered({"text": ""}), limits_of(10**6))[0].view_tokens
    assert (True, True) == (log[-1] is view[-1], 1_000 <= tokens <= 1_000_000 // 4)


@pytest.mark.parametrize("kind", ["image", "document", "video"])
def test_media_that_a_store_wrote_as_base64_count_the_same(kind):
    """S11: four letters for three bytes play no part."""
    encoded = copy.deepcopy(MEDIA[kind])
    source = encoded[kind]["source"]
    source["bytes"] = base64.b64encode(source["bytes"]).decode()
    plans = [planned(answered(item), limits_of(10**6))[0] for item in (MEDIA[kind], encoded)]
    assert plans[0].view_tokens == plans[1].view_tokens


@pytest.mark.parametrize("kind", MEDIA)
def test_media_that_do_not_fit_are_described_and_never_written_out(kind):
    """S11: one line with the kind, the format, and the size or the place."""
    _, view = planned(answered(MEDIA[kind]), limits_of(600))
    (line,) = texts(view[-1])
    name, format_ = kind.split()[0], next(iter(MEDIA[kind].values()))["format"]
    place = "s3://bucket/key" if "S3" in kind else "1,000,000 bytes"
    assert (True, True, True) == (line.startswith(f"[{name}: {format_}, "), place in line, len(line) < 100)


def test_images_that_the_view_does_not_show_do_not_cost_those_that_it_does():
    """S12, S20: the task's picture stays while newer ones are capped away or left out with their messages."""
    task, policy = b"the task's picture", Policy(old_result_max_bytes=64, recent_tokens=2_000)
    image = {"image": {"format": "png", "source": {"bytes": task}}}
    log = screenshots(40, own=False)
    for number, message in enumerate(log[2::2]):
        message["content"][0]["toolResult"]["content"] = [
            {"image": {"format": "png", "source": {"bytes": f"screen {number:03}".encode() * 50}}}
        ]
    log[0] = user("look", image)
    standing = Boundaries(0, 61, 64)
    _, view = planned(log, limits_of(30_000), policy, standing=standing, max_media=20)
    assert (task, True) == (images_of(view)[0], len(images_of(view)) <= 20)
