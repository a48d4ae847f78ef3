"""Deterministic source material of many kinds: prose in several languages, records, code, tables and logs."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random

_SITES = (
    "Altmark", "Birch Hollow", "Cape Verrin", "Dunmore East", "Eskdale", "Fjellhavn", "Garrow Flats", "Hokuto Bay",
    "Isle Ronan", "Jarrow Quay", "Karsten Ridge", "Loch Arden", "Mirador Sur", "Nantmel", "Ostrava North",
    "Porto Lagos", "Quarrytown",
)  # fmt: skip
_PARTS = (
    "inverter cabinet", "coolant manifold", "cell rack", "busbar joint", "gas sensor", "fire damper", "relay board",
    "HVAC unit", "transformer bay", "string controller", "isolation switch", "vent stack",
)  # fmt: skip
_EVENTS = (
    "tripped on overcurrent", "reported a drift of its reference", "was replaced under warranty",
    "ran hot for several hours", "failed its acceptance test", "passed inspection after a repair",
    "lost contact with the site controller", "was derated by the operator", "showed corrosion at the terminals",
    "recovered without intervention",
)  # fmt: skip
_CLAUSES = (
    "although the maintenance log for that week is incomplete", "which the operator attributes to a firmware change",
    "and the insurer asked for a second opinion", "before the seasonal peak had begun",
    "while two neighbouring racks stayed in service", "according to the engineer who signed the report",
    "so the contract's availability clause was not triggered", "a pattern that three other sites have seen as well",
    "with no measurable effect on delivered energy",
)  # fmt: skip
_GERMAN = (
    "Die Anlage in {site} meldete am {day}. Betriebstag eine Abweichung von {value} Prozent gegenüber dem Sollwert.",
    "Der Prüfbericht nennt als Ursache eine undichte Kühlleitung; die Reparatur dauerte {value} Stunden.",
    "Über den weiteren Betrieb entscheidet die Behörde, sobald das Gutachten für {site} vorliegt.",
    "Der Betreiber hat die Ladeleistung auf {value} Kilowatt begrenzt, ohne die Verfügbarkeit zu gefährden.",
)
_JAPANESE = (
    "{site}の蓄電設備では、運転開始から{day}日目に冷却水の温度が{value}度まで上昇した。",
    "点検の結果、制御盤の接続部に緩みが見つかり、同日中に交換された。",
    "運営会社は、出力を{value}キロワットに制限したうえで運転を再開したと説明している。",
    "同様の事例は{site}でも報告されており、原因の調査が続いている。",
)
_KOREAN = (
    "{site} 저장 설비는 가동 {day}일째에 냉각 계통의 이상을 보고했다.",
    "점검 결과 제어반 단자에서 부식이 확인되어 부품 {value}개를 교체하였다.",
    "운영사는 출력을 {value}킬로와트로 제한하고 시험 운전을 다시 시작했다.",
)
_STATES = ("charging", "discharging", "standby", "maintenance")
_LEVELS = ("INFO", "INFO", "INFO", "WARN", "DEBUG", "ERROR")


def _prose(rng: Random, number: int) -> str:
    sentences = [
        f"In week {rng.randint(1, 52)} the {rng.choice(_PARTS)} at {rng.choice(_SITES)} {rng.choice(_EVENTS)}, "
        f"{rng.choice(_CLAUSES)}."
        for _ in range(rng.randint(2, 5))
    ]
    if rng.random() < 0.3:
        sentences.append(
            f"The audit puts the loss at {rng.randint(2, 980)}.{rng.randint(0, 9)} MWh over {rng.randint(2, 60)} days."
        )
    return " ".join(sentences) + ("\n" if number % 3 == 2 else "")


def _record(rng: Random, number: int) -> str:
    record = {
        "record": f"{rng.choice(_SITES).lower().replace(' ', '-')}-{number}",
        "component": rng.choice(_PARTS),
        "finding": f"{rng.choice(_EVENTS)}, {rng.choice(_CLAUSES)}",
        "severity": rng.choice(("minor", "moderate", "serious")),
        "downtime_h": round(rng.uniform(0.2, 96), 1),
        "temperature_c": round(rng.gauss(31, 6), 1),
        "reviewed": rng.random() < 0.5,
    }
    return json.dumps(record) + ","


def _code(rng: Random, number: int) -> str:
    part = rng.choice(_PARTS).replace(" ", "_").lower()
    limit = rng.randint(20, 95)
    return (
        f"def check_{part}_{number}(readings: list[float], limit_c: float = {limit}.0) -> str | None:\n"
        f"    hot = [reading for reading in readings if reading > limit_c]\n"
        f"    if len(hot) >= {rng.randint(2, 6)}:\n"
        f'        return f"{part}: {{len(hot)}} readings above {{limit_c}}, highest {{max(hot):.1f}}"\n'
        "    return None\n\n"
    )


def _row(rng: Random, number: int) -> str:
    return (
        f"| {number:4d} | {rng.choice(_SITES):13} | {rng.choice(_PARTS):18} | {rng.choice(_EVENTS):42} "
        f"| 20{rng.randint(19, 26)} | {rng.uniform(0.8, 1) * 100:6.2f} % | {rng.randint(900, 52_000):7,d} kWh |"
    )


def _log(rng: Random, number: int) -> str:
    clock = f"{number // 3600 % 24:02d}:{number // 60 % 60:02d}:{number % 60:02d}"
    date = f"2026-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}"
    return (
        f"{date}T{clock}Z {rng.choice(_LEVELS):5} controller.rack{rng.randint(1, 64):02d} "
        f"temperature={rng.gauss(30, 5):.1f} state={rng.choice(_STATES)} "
        f"message={rng.choice(_PARTS)} {rng.choice(_EVENTS)}"
    )


def _sentences(templates: tuple[str, ...]) -> Callable[[Random, int], str]:
    def line(rng: Random, number: int) -> str:
        filled = (
            rng.choice(templates).format(site=rng.choice(_SITES), day=rng.randint(2, 900), value=rng.randint(3, 480))
            for _ in range(rng.randint(1, 3))
        )
        return " ".join(filled)

    return line


KINDS: dict[str, tuple[Callable[[Random, int], str], float]] = {
    "article": (_prose, 4.7),
    "records": (_record, 3.46),
    "source code": (_code, 3.27),
    "table": (_row, 3.1),
    "log": (_log, 3.47),
    "Bericht": (_sentences(_GERMAN), 4.3),
    "報告": (_sentences(_JAPANESE), 1.35),
    "보고서": (_sentences(_KOREAN), 1.78),
}
"""For each kind of source: what writes its next line, and its characters a token in the o200k_base encoding."""


def write_passage(rng: Random, kind: str, size_tokens: int) -> str:
    """Write a passage of one kind.

    Args:
        rng: Source of every choice.
        kind: A key of ``KINDS``.
        size_tokens: About how many o200k_base tokens it has; within 5 % from 500 tokens on.

    Returns:
        Lines of text.
    """
    line_of, chars_per_token = KINDS[kind]
    lines: list[str] = []
    missing_chars = size_tokens * chars_per_token
    while missing_chars > 0:
        line = line_of(rng, len(lines))
        lines.append(line)
        missing_chars -= len(line) + 1
    return "\n".join(lines)
