"""Downloads from a server that is slow, broken, wrong or malicious."""

from __future__ import annotations

import io
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
import requests

from harness.datasets.transfer import Transfer, TransferError

from .conftest import cut, dripping, endless, other, silent, status, whole, without_ranges

BODY = bytes(range(256)) * 2_000  # 512,000 bytes


@pytest.fixture
def transfer(tmp_path: Path) -> Transfer:
    return Transfer(tmp_path / "a.part", most=1_000_000, patience=0.4, pause=0.01)


def test_a_file_arrives_whole(serve, transfer: Transfer, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    server = serve(BODY)
    steps: list[tuple[int, int]] = []
    transfer.progress = lambda *step: steps.append(step)
    transfer(f"{server.url}/a", tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == BODY
    assert not transfer.part.exists()
    assert steps[-1] == (len(BODY), len(BODY))


def test_a_cut_transfer_goes_on_from_where_it_stopped(  # type: ignore[no-untyped-def]
    serve, transfer: Transfer, tmp_path: Path
) -> None:
    server = serve(BODY, cut(100_000), cut(200_000), whole)
    transfer(f"{server.url}/a", tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == BODY
    assert server.ranges == [None, "bytes=100000-", "bytes=300000-"]
    assert transfer.resumed


def test_any_number_of_cuts_is_borne_while_something_comes(  # type: ignore[no-untyped-def]
    serve, transfer: Transfer, tmp_path: Path
) -> None:
    server = serve(BODY, cut(70_000))
    transfer(f"{server.url}/a", tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == BODY


def test_what_a_former_run_left_is_used(serve, transfer: Transfer, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    transfer.part.write_bytes(BODY[:400_000])
    server = serve(BODY)
    transfer(f"{server.url}/a", tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == BODY
    assert server.ranges == ["bytes=400000-"]


def test_a_part_that_is_complete_is_not_fetched_again(  # type: ignore[no-untyped-def]
    serve, transfer: Transfer, tmp_path: Path
) -> None:
    transfer.part.write_bytes(BODY)
    transfer(f"{serve(BODY).url}/a", tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == BODY


def test_a_part_that_is_too_long_is_thrown_away(serve, transfer: Transfer, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    transfer.part.write_bytes(BODY + b"more")
    transfer(f"{serve(BODY).url}/a", tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == BODY


def test_a_server_without_ranges_is_read_from_the_start(  # type: ignore[no-untyped-def]
    serve, transfer: Transfer, tmp_path: Path
) -> None:
    transfer.part.write_bytes(b"other bytes that were here")
    transfer(f"{serve(BODY, without_ranges).url}/a", tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == BODY
    assert not transfer.resumed


def test_another_range_than_asked_for_is_not_taken(  # type: ignore[no-untyped-def]
    serve, transfer: Transfer, tmp_path: Path
) -> None:
    transfer.part.write_bytes(BODY[:1_000])
    lie = status(206, **{"Content-Range": "bytes 5-9/10"})
    transfer(f"{serve(BODY, lie, whole).url}/a", tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == BODY


def test_a_length_beyond_all_numbers_is_not_believed(  # type: ignore[no-untyped-def]
    serve, transfer: Transfer, tmp_path: Path
) -> None:
    def boast(handler: BaseHTTPRequestHandler, body: bytes) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "9" * 5_000)
        handler.end_headers()
        handler.wfile.write(body)
        handler.close_connection = True

    transfer(f"{serve(BODY, boast, whole).url}/a", tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == BODY


def test_a_server_that_is_busy_is_asked_again(serve, transfer: Transfer, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    transfer(f"{serve(BODY, status(503), status(429), whole).url}/a", tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == BODY


@pytest.mark.parametrize(
    ("manner", "message", "n_requests"),
    [
        (status(403), "^status 403$", 1),
        (status(404), "^status 404$", 1),
        (status(500), r"^status 500 \(4 tries\)$", 4),
        (status(302, Location="/round"), "^redirected in a circle$", 6),
        (status(302, Location="gopher://x"), "^no usable address or answer", 1),
        (cut(10), r"^cut off after .* \(4 tries\)$", 4),
        (silent, r"^no data for 0.4 s after 0 bytes \(4 tries\)$", 4),
        (dripping, "^slower than 1,024 bytes a second for 0.4 s$", 1),
        (endless, "^more than the 1,000,000 bytes expected$", 1),
        (
            other(b"", length=10**9),
            "^1,000,000,000 bytes announced, at most 1,000,000 expected$",
            1,
        ),
    ],
)
def test_a_bad_server_is_given_up_with_a_reason_and_in_time(  # type: ignore[no-untyped-def]
    serve, transfer: Transfer, tmp_path: Path, manner, message: str, n_requests: int
) -> None:
    server = serve(BODY, manner)
    began = time.perf_counter()
    with pytest.raises(TransferError, match=message):
        transfer(f"{server.url}/a", tmp_path / "a")
    assert time.perf_counter() - began < 8
    assert len(server.ranges) == n_requests
    assert not (tmp_path / "a").exists()


def test_a_server_that_is_gone_is_given_up(transfer: Transfer, tmp_path: Path) -> None:
    with pytest.raises(TransferError, match=r"no connection \(.*refused\) \(4 tries\)"):
        transfer("http://127.0.0.1:9/a", tmp_path / "a")


def test_a_name_that_nobody_has_is_given_up_at_once(transfer: Transfer, tmp_path: Path) -> None:
    transfer.pause = 60.0
    with pytest.raises(TransferError, match=r"no connection .*Failed to resolve"):
        transfer("http://nowhere.invalid/a", tmp_path / "a")


@pytest.mark.parametrize("hops", [["http://b/"], ["https://b/", "http://c/", "https://d/"]])
def test_no_hop_of_a_redirect_is_without_encryption(
    transfer: Transfer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hops: list[str]
) -> None:
    asked = []

    def send(adapter: object, request: requests.PreparedRequest, **_: object) -> requests.Response:
        answer = requests.Response()
        answer.status_code, answer.url, answer.request = 302, str(request.url), request
        answer.headers["Location"] = hops[len(asked)]
        answer.raw = io.BytesIO()
        asked.append(answer.url)
        return answer

    monkeypatch.setattr(requests.adapters.HTTPAdapter, "send", send)
    with pytest.raises(TransferError, match="redirected to an address without encryption"):
        transfer("https://a/", tmp_path / "a")
    assert all(url.startswith("https:") for url in asked)
