"""In which encoding a text is: certain, or one of a few between which its reader has to choose.

Each encoding turns bytes above 127 into other signs; the right one makes words of a language. What
counts is the proportion of signs that are common in texts of the encoding: frequent characters of
Chinese, Japanese or Korean, or letters in words of one alphabet with capitals where
capitals are.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from typing import NamedTuple

MOST_LINES = 5_000
"""Different lines from which an encoding is found."""
CERTAIN, APART = 0.75, 0.299
"""The proportion of common signs that an encoding needs, and its least lead over all others."""
LEAST_SIGNS = 6
"""Fewer different signs of two bytes may be common in two languages by chance."""


def checked_encoding(name: str) -> str:
    """Return the name of an encoding that Python knows, or raise `ValueError`."""
    try:
        is_text = codecs.lookup(name)._is_text_encoding
    except (LookupError, ValueError):
        is_text = False
    if not is_text:
        raise ValueError(
            f"{name!r} is not an encoding; use one such as utf-8, utf-16, latin-1, cp1252, cp1251, "
            "gbk, big5, shift_jis or euc_kr"
        )
    return name


def unmarked_encoding(start: bytes) -> str | None:
    """Return which UTF-16 a text without byte order mark is, by its first four bytes.

    Examples
    --------
    >>> unmarked_encoding("user".encode("utf-16-le")[:4]), unmarked_encoding(b"user")
    ('utf-16-le', None)
    """
    zeros = "".join("0" if byte == 0 else "x" for byte in start[:4])
    return {"x0x0": "utf-16-le", "0x0x": "utf-16-be"}.get(zeros)


LEAST_UTF_8 = 0.5
"""Proportion of UTF-8 among the signs above 127 from which a text is UTF-8 with broken lines."""


def is_mostly_utf_8(data: bytes) -> bool:
    """Return whether a text is UTF-8 but for a few bytes."""
    text = data.decode("utf-8", "surrogateescape")
    n_stray = sum("\udc80" <= sign <= "\udcff" for sign in text)
    n_signs = sum(sign > "\x7f" for sign in text)
    return n_signs - n_stray >= LEAST_UTF_8 * n_signs


def encoding_of_bytes(data: bytes) -> str | None:
    r"""Return the encoding of text that is not UTF-8, or None if it is not certain.

    Examples
    --------
    >>> encoding_of_bytes("用户,电影,评分\n用户七,霸王别姬,五\n用户八,赤壁,四\n".encode("gbk"))
    'gbk'
    >>> encoding_of_bytes("Jürgen,Amélie,5\n".encode("latin-1"))
    'cp1252'
    >>> encoding_of_bytes("Иван,Солярис,5\nМария,Зеркало,4\n".encode("cp1251"))
    'cp1251'
    >>> encoding_of_bytes("žluť\n".encode("cp1250")) is None
    True
    """
    best, *others = guesses(data)
    if best.share < CERTAIN:
        return None
    differ = [other for other in others if other.text != best.text]
    return best.encoding if not differ or differ[0].share <= best.share - APART else None


class Guess(NamedTuple):
    """An encoding, the proportion of signs that are common in it, and the text that it makes."""

    encoding: str
    share: float
    text: str


def guesses(data: bytes) -> list[Guess]:
    """Return the encodings that a text may be in, the likeliest first."""
    whole = data[: data.rfind(b"\n") + 1] or data
    lines = dict.fromkeys(line for line in whole.split(b"\n") if not line.isascii())
    some = b"\n".join(list(lines)[:MOST_LINES])
    found = []
    for encoding, share_of in _SHARES.items():
        text = some.decode(encoding, "replace")
        n_wrong = text.count("\N{REPLACEMENT CHARACTER}")
        n_signs = sum(sign > "\x7f" for sign in text)
        if n_wrong * 50 < n_signs or not n_wrong:
            found.append(Guess(encoding, share_of(encoding, text), text))
    found.append(Guess("latin-1", 0.0, some.decode("latin-1")))
    return sorted(found, key=lambda guess: -guess.share)


_NEUTRAL = set("’‘“”„–—…€£°®™«»·¡¿ºª\xa0，。、！？：；（）「」『』《》・ー　×")
"""Signs of many languages, which show none."""


def _fields(text: str) -> set[str]:
    """Return the different fields of a text that hold signs above 127."""
    return {field for field in re.split(r"[\n,;\t|\"]", text) if not field.isascii()}


def _of_two_bytes(encoding: str, text: str) -> float:
    """Return the proportion of common signs of a text whose signs are of two bytes."""
    is_common = _COMMON[encoding]
    signs = [sign for field in _fields(text) for sign in field if sign > "\x7f"]
    signs = [sign for sign in signs if sign not in _NEUTRAL]
    if not signs:
        return 0.0
    coded = {sign: sign.encode(encoding, "replace") for sign in set(signs)}
    common = {sign: len(code) == 2 and is_common(code[0], code[1]) for sign, code in coded.items()}
    share = sum(common[sign] for sign in signs) / len(signs)
    if share < 0.9:
        share *= share  # texts of a language hardly have a rare sign
    leads = [code[0] for code in coded.values()]
    if encoding == "gbk" and not any(0xC9 <= lead <= 0xD7 for lead in leads):
        share *= 0.7 if len(coded) < LEAST_SIGNS else 0.3  # the first bytes of Korean
    if encoding == "big5" and not any(code[1] < 0x80 for code in coded.values() if len(code) > 1):
        share *= 0.5  # whose second bytes are small in two of five signs
    if encoding == "euc_jp" and not any(lead in (0xA4, 0xA5) for lead in leads):
        share *= 0.5  # no kana
    has_kana = any("\u3041" <= sign <= "\u30f6" for sign in coded)
    if encoding != "shift_jis" and not (encoding == "euc_jp" and has_kana):
        share *= 1.0 if len(coded) >= LEAST_SIGNS else 0.7
    return share


_COMMON: dict[str, Callable[[int, int], bool]] = {
    "gbk": lambda lead, trail: 0xB0 <= lead <= 0xD7 and trail >= 0xA1,
    "big5": lambda lead, trail: 0xA4 <= lead <= 0xC6,
    "shift_jis": lambda lead, trail: (
        0x829F <= lead << 8 | trail <= 0x8396 or 0x889F <= lead << 8 | trail <= 0x9872
    ),
    "euc_jp": lambda lead, trail: lead in (0xA4, 0xA5) or 0xB0 <= lead <= 0xCF,
    "euc_kr": lambda lead, trail: 0xB0 <= lead <= 0xC8,
}
"""Whether a sign of two bytes is a frequent one."""


def _of_an_alphabet(encoding: str, text: str) -> float:
    """Return the proportion of letters above 127 that are in words of their alphabet."""
    letters, frequent, rare = _ALPHABETS[encoding]
    n_good, n_frequent, n_letters, n_rare = 0.0, 0, 0, 0
    n_signs = 0
    if "ă" in text:  # not Hungarian beside Romanian, but Portuguese
        rare = rare.translate(_HUNGARIAN)
    for field in _fields(text):
        n_signs += sum(sign > "\x7f" and sign not in _NEUTRAL for sign in field)
        n_signs += len(_BEFORE_LETTERS.findall(field))
        for word in re.findall(r"[^\W\d_]+", field):
            high = [sign for sign in word if sign > "\x7f" and sign not in _NEUTRAL]
            if not high:
                continue
            n_letters += len(high)
            n_frequent += sum(sign.lower() in frequent for sign in high)
            n_rare += sum(sign in rare for sign in high)
            is_own = all(sign.lower() in letters for sign in high)
            is_pure = len(high) == len(word)
            fits = is_own and (is_pure if frequent else len(high) <= max(1, 0.75 * len(word)))
            is_short = is_own and len(word) == 2
            if (fits or is_short) and _is_word(word):
                is_loud = bool(frequent) and word.isupper() and len(word) > 2
                is_doubtful = not fits or is_loud or len(word) == 1
                n_good += len(high) * (0.5 if is_doubtful else 1)
    if not n_signs:
        return 0.0
    share = n_good / n_signs
    if frequent and n_frequent < 0.4 * n_letters:
        share *= 0.5
    if rare and n_rare < 0.1 * n_letters:
        share *= 0.5  # no letter that only these languages have
    return share


def _is_word(word: str) -> bool:
    """Return whether capitals stand where they do in words."""
    rest = word[1:]
    return word.isupper() or rest == rest.lower() or re.search("[a-z][A-Z]", word) is not None


_WESTERN = "àáâãäåæçèéêëìíîïðñòóôõöøùúûüýÿßœþ"
_CENTRAL = "áâăäąćčçďđéęëěíîĺľłńňóôőöŕřśšşťţúůüűýźžżß"
_ONLY_CENTRAL = "ąłľżźśšşťžőűĄŁĽŻŹŚŠŞŤŽŐŰ"
_TURKISH, _ONLY_TURKISH = "âçğıîöşüû", "ğışĞİŞ"
_HUNGARIAN = str.maketrans("", "", "őűŐŰ")
_BEFORE_LETTERS = re.compile("[£ªº°®©¦§¬±²³µ¶·¸¹¼½¾×÷¤¥¢][a-z]")
"""Signs that stand for a letter of another encoding."""
_CYRILLIC = "абвгдеёжзийклмнопрстуфхцчшщъыьэюяіїєґўђјљњћџ"
_GREEK = "αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ"
_ALPHABETS: dict[str, tuple[str, str, str]] = {
    "cp1252": (_WESTERN, "", ""),
    "cp1250": (_CENTRAL, "", _ONLY_CENTRAL),
    "iso8859_2": (_CENTRAL, "", _ONLY_CENTRAL),
    "cp1254": (_TURKISH, "", _ONLY_TURKISH),
    "mac_roman": (_WESTERN, "", ""),
    "cp850": (_WESTERN, "", ""),
    "cp1251": (_CYRILLIC, "оеаинтсрвлк", ""),
    "koi8_r": (_CYRILLIC, "оеаинтсрвлк", ""),
    "cp866": (_CYRILLIC, "оеаинтсрвлк", ""),
    "cp1253": (_GREEK, "αοιετσνηυρλς", ""),
}
"""Letters of an encoding, letters that are frequent where all of a word are above 127, and letters
some of which have to be there."""
_SHARES = dict.fromkeys(_ALPHABETS, _of_an_alphabet) | dict.fromkeys(_COMMON, _of_two_bytes)


def refusal(data: bytes) -> str:
    """Return what to say of a text whose encoding is not certain, with a line in each candidate."""
    whole = data[: data.rfind(b"\n") + 1] or data
    line = next((line for line in whole.split(b"\n") if not line.isascii()), whole)
    readings: dict[str, str] = {}
    for guess in guesses(data):
        text = line.decode(guess.encoding, "replace").strip()[:60]
        shown = "".join(
            sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text
        )
        readings.setdefault(shown, guess.encoding)
        if len(readings) == 3:
            break
    ways = "".join(f"\n  `encoding: {name}` reads {text}" for text, name in readings.items())
    return f"not UTF-8, and its encoding is not certain; save the file as UTF-8, or:{ways}"
