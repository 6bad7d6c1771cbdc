from __future__ import annotations

import asyncio
import threading

import pytest
from argon2 import PasswordHasher, extract_parameters
from argon2.exceptions import VerifyMismatchError

from keybearer.domain.errors import LimitReachedError, SchemaViolationError
from keybearer.domain.passwords import Passwords, require_strong
from tools.local.waiting import PATIENCE_SECONDS


@pytest.fixture(scope="module")
def passwords() -> Passwords:
    return Passwords()


async def test_what_is_kept_of_a_password_is_argon2id_with_a_salt(passwords: Passwords) -> None:
    first, second = await passwords.hash("cnry-one"), await passwords.hash("cnry-one")
    assert first.startswith("$argon2id$v=19$m=47104,t=1,p=1$")
    assert first != second
    assert len(first) <= 255


async def test_only_the_password_itself_matches(passwords: Passwords) -> None:
    kept = await passwords.hash("cnry-one")
    assert await passwords.matches(kept, "cnry-one")
    assert not await passwords.matches(kept, "cnry-two")
    assert not await passwords.matches(kept, "")
    assert not await passwords.matches("no hash at all", "cnry-one")


async def test_nobody_has_a_password_not_even_an_empty_one(passwords: Passwords) -> None:
    assert not await passwords.matches(None, "")
    assert not await passwords.matches(None, "cnry-one")


async def test_who_does_not_exist_costs_the_work_of_who_does(
    passwords: Passwords, monkeypatch: pytest.MonkeyPatch
) -> None:
    verified: list[str] = []

    def verify(_: PasswordHasher, kept: str, password: bytes) -> bool:
        verified.append(kept)
        assert password == b"cnry-one"
        raise VerifyMismatchError

    monkeypatch.setattr(PasswordHasher, "verify", verify)
    kept = await passwords.hash("cnry-one")
    assert not await passwords.matches(None, "cnry-one")
    assert not await passwords.matches(kept, "cnry-one")
    nobodys, somebodys = verified
    assert extract_parameters(nobodys) == extract_parameters(somebodys)


async def test_half_of_a_surrogate_pair_is_a_password_like_any_other(passwords: Passwords) -> None:
    kept = await passwords.hash("cnry-\ud800")
    assert await passwords.matches(kept, "cnry-\ud800")
    assert not await passwords.matches(kept, "cnry-\ud801")


async def test_two_hash_at_once_and_who_comes_after_two_hundred_is_sent_away() -> None:
    passwords = Passwords()
    gate, both_run = threading.Event(), threading.Event()
    running = 0
    most = 0
    lock = threading.Lock()

    def wait_in_turn() -> str:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
            if running == 2:
                both_run.set()
        gate.wait(PATIENCE_SECONDS)
        with lock:
            running -= 1
        return "done"

    waiting = [asyncio.create_task(passwords._run(wait_in_turn)) for _ in range(200)]
    await asyncio.sleep(0)
    with pytest.raises(LimitReachedError, match="try again"):
        await passwords.hash("cnry-one")
    assert await asyncio.to_thread(both_run.wait, PATIENCE_SECONDS / 2)
    gate.set()
    assert set(await asyncio.gather(*waiting)) == {"done"}
    assert most == 2
    assert await passwords.hash("cnry-one")


@pytest.mark.parametrize(
    "password",
    [
        "12345678901234",
        "98765432109876",
        "ada@example.com",
        "Ada@Example.COM!",
        "ada.example.com1",
        "aaaaaaaaaaaaaaaa",
        "abababababababab",
        "abcdefghijklmnop",
        "Password1234!",
        "passwordpassword",
        "qwertyqwerty12",
        "keybearer-admin-1",
        "catdogcatdog",
    ],
)
def test_a_password_that_is_guessed_first_is_refused_and_not_repeated(password: str) -> None:
    with pytest.raises(SchemaViolationError) as refused:
        require_strong(password, "ada@example.com", field="password")
    assert password.casefold() not in refused.value.message.casefold()


@pytest.mark.parametrize(
    "password", ["correct horse battery", "x7#kQ!m2pLw9", "ada likes violet boats", "83749201746592"]
)
def test_a_password_of_random_words_or_characters_is_taken(password: str) -> None:
    require_strong(password, "ada@example.com", field="password")
