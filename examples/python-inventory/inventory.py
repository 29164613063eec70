#!/usr/bin/env python3
"""Keeps a table of the locked workspaces in SQLite: which lock, whose, since when.

Commands:
  follow   reads the events of the workspaces, and continues where it stopped
  list     prints the locks as JSON, also while another process follows

Settings (environment variables):
  KAFKA_BROKERS    brokers, separated by commas (localhost:9092)
  TOPIC_PREFIX     CADASTRE_TOPIC_PREFIX of the site (cadastre)
  INVENTORY_FILE   the database (inventory.db)
"""

import argparse
import json
import os
import re
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, TopicPartition

BATCH = 500
POLL_SECONDS = 0.5
TIMEOUT_SECONDS = 30

# Holders of locks are ids without names: nothing has to be deleted when Cadastre forgets a person.
TABLES = """
create table if not exists workspaces (
  id text primary key, organization text not null, name text, times_locked integer not null default 0);
create table if not exists locks (
  workspace text primary key, holder_type text not null, holder text not null, reason text not null, since text not null);
create table if not exists streams (stream text primary key, version integer not null);
create table if not exists offsets (
  topic text, partition integer, next_offset integer not null, primary key (topic, partition));
"""


CHECK_PUBLISHER = "Does the publisher run with KAFKA_CLOUD_EVENTS=structured, or is TOPIC_PREFIX wrong?"


class Refusal(Exception):
    """The program cannot continue. A person must act, and the message names the action."""


@dataclass(frozen=True)
class Event:
    """An event of Cadastre. `version` is its number in its stream, `schema_version` the version of the shape of `data`."""

    name: str
    schema_version: int
    stream: str
    version: int
    time: str
    organization: str
    data: dict[str, Any]


def decode_event(message: Message) -> Event:
    """Returns the CloudEvent of a message in binary mode. Raises Refusal for any other message."""
    try:
        return read_event(message)
    except KeyError as error:
        raise Refusal(f"{describe(message)} has no header {error.args[0]}. {CHECK_PUBLISHER}") from error
    except ValueError as error:
        raise Refusal(f"{describe(message)} cannot be decoded: {error}. {CHECK_PUBLISHER}") from error


def read_event(message: Message) -> Event:
    """Returns the event of a message. Raises KeyError for a missing header, and ValueError for a wrong header or value."""
    headers = {name: (value or b"").decode() for name, value in message.headers() or []}
    event_type = re.fullmatch(r"cadastre\.([A-Za-z]+)\.v(\d+)", headers["ce_type"])
    if event_type is None:
        raise ValueError(f"ce_type must be cadastre.NAME.vN, got {headers['ce_type'][:100]!r}")
    data = json.loads(message.value() or b"")
    if not isinstance(data, dict):
        raise ValueError("the value must be a JSON object")
    return Event(
        name=event_type[1],
        schema_version=int(event_type[2]),
        stream=headers["ce_stream"],
        version=int(headers["ce_version"]),
        time=headers["ce_time"],
        organization=headers.get("ce_organization", ""),
        data=data,
    )


def describe(message: Message) -> str:
    return f"record {message.offset()} of {message.topic()}/{message.partition()}"


def store_name(database: sqlite3.Connection, event: Event, name: str) -> None:
    database.execute(
        "insert into workspaces (id, organization, name) values (?, ?, ?) "
        "on conflict (id) do update set name = excluded.name",
        (event.stream, event.organization, name),
    )


def workspace_created(database: sqlite3.Connection, event: Event) -> None:
    store_name(database, event, event.data["name"])


def workspace_updated(database: sqlite3.Connection, event: Event) -> None:
    if "name" in event.data["changes"]:
        store_name(database, event, event.data["changes"]["name"])


def workspace_locked(database: sqlite3.Connection, event: Event) -> None:
    holder = event.data["holder"]
    database.execute(
        "insert or replace into locks values (?, ?, ?, ?, ?)",
        (event.stream, holder["type"], holder["id"], event.data["reason"], event.time),
    )
    # Not idempotent, as many effects are not. It is right because each event is handled exactly once.
    database.execute(
        "insert into workspaces (id, organization, times_locked) values (?, ?, 1) "
        "on conflict (id) do update set times_locked = times_locked + 1",
        (event.stream, event.organization),
    )


def workspace_unlocked(database: sqlite3.Connection, event: Event) -> None:
    database.execute("delete from locks where workspace = ?", (event.stream,))


def workspace_recovered(database: sqlite3.Connection, event: Event) -> None:
    # It comes back unlocked, perhaps under another name. How often it was locked before is not kept here.
    store_name(database, event, event.data["name"])


def workspace_deleted(database: sqlite3.Connection, event: Event) -> None:
    # Its row in `streams` stays, so that a repeated event does not bring the workspace back.
    database.execute("delete from locks where workspace = ?", (event.stream,))
    database.execute("delete from workspaces where id = ?", (event.stream,))


# The schema versions that this program reads, of each event that it needs. A topic keeps messages as they were published:
# when a version 2 appears, add a row for it, and keep the row of version 1.
HANDLERS: dict[str, dict[int, Callable[[sqlite3.Connection, Event], None]]] = {
    "WorkspaceCreated": {1: workspace_created},
    "WorkspaceUpdated": {1: workspace_updated},
    "WorkspaceLocked": {1: workspace_locked},
    "WorkspaceUnlocked": {1: workspace_unlocked},
    # Version 2 adds until when the workspace can be recovered.
    "WorkspaceDeleted": {1: workspace_deleted, 2: workspace_deleted},
    "WorkspaceRecovered": {1: workspace_recovered},
}


def handle(database: sqlite3.Connection, event: Event) -> None:
    """Handles an event, unless its type is not needed or its version of the stream was handled before."""
    versions = HANDLERS.get(event.name)
    if versions is None:
        return
    handler = versions.get(event.schema_version)
    if handler is None:
        raise Refusal(
            f"{event.name} has schema version {event.schema_version}, and this program reads {sorted(versions)}. "
            "Update the program: it then continues at this event."
        )
    stored = database.execute(
        "insert into streams values (?, ?) on conflict (stream) do update set version = excluded.version "
        "where streams.version < excluded.version",
        (event.stream, event.version),
    )
    if stored.rowcount == 1:
        handler(database, event)


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    database.execute("begin immediate")
    try:
        yield
    except BaseException:
        database.execute("rollback")
        raise
    database.execute("commit")


def read_offset(database: sqlite3.Connection, topic: str, partition: int) -> int | None:
    row = database.execute(
        "select next_offset from offsets where topic = ? and partition = ?", (topic, partition)
    ).fetchone()
    return None if row is None else row[0]


def handle_batch(database: sqlite3.Connection, messages: list[Message]) -> None:
    """Handles messages and stores the offsets after them, in one transaction: after a crash, both are there or neither."""
    with transaction(database):
        for message in messages:
            topic, partition, offset = message.topic(), message.partition(), message.offset()
            # Another process may follow with the same file.
            if offset < (read_offset(database, topic, partition) or 0):
                continue
            handle(database, decode_event(message))
            database.execute("insert or replace into offsets values (?, ?, ?)", (topic, partition, offset + 1))


def assign_partitions(consumer: Consumer, database: sqlite3.Connection, topic: str) -> None:
    """Starts each partition at its stored offset, at first at its beginning. Kafka stores no offset for this program."""
    metadata = consumer.list_topics(topic, timeout=TIMEOUT_SECONDS).topics[topic]
    if metadata.error is not None:
        raise Refusal(f"cannot read {topic}: {metadata.error}. Cadastre creates its topics with the first event.")
    offsets = {partition: read_offset(database, topic, partition) for partition in metadata.partitions}
    consumer.assign(
        [
            TopicPartition(topic, partition, OFFSET_BEGINNING if offset is None else offset)
            for partition, offset in offsets.items()
        ]
    )


def check(message: Message, file: str) -> Message:
    """Returns the message. Raises Refusal if Kafka has sent an error instead of a record."""
    error = message.error()
    if error is None:
        return message
    if error.code() == KafkaError._AUTO_OFFSET_RESET:
        raise Refusal(
            f"the topic does not have the next record any more: {error.str()}. It was deleted, or its retention is "
            f"too short. Remove {file} and start again; if events are missing, use `cadastre replay`."
        )
    raise Refusal(f"Kafka: {error}")


def follow(database: sqlite3.Connection, file: str) -> None:
    """Handles events until SIGTERM or SIGINT."""
    stopping = False

    def stop(*_: object) -> None:
        nonlocal stopping
        stopping = True

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    consumer = Consumer(
        {
            "bootstrap.servers": os.environ.get("KAFKA_BROKERS", "localhost:9092"),
            "client.id": "python-inventory",
            # The library requires a name. Without `subscribe` no group exists: one process owns the file and all partitions.
            "group.id": "python-inventory",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            # An offset that the topic does not have is an error. Another value would skip events without a word.
            "auto.offset.reset": "error",
            "error_cb": lambda error: print(f"Kafka: {error}", file=sys.stderr, flush=True),
        }
    )
    with closing(consumer):
        assign_partitions(consumer, database, f"{os.environ.get('TOPIC_PREFIX', 'cadastre')}.workspaces")
        print(f"following locks in {file}", flush=True)
        while not stopping:
            messages = [check(message, file) for message in consumer.consume(BATCH, POLL_SECONDS)]
            if messages:
                handle_batch(database, messages)


def list_locks(database: sqlite3.Connection) -> list[dict[str, Any]]:
    database.row_factory = sqlite3.Row
    rows = database.execute(
        "select workspace, name, organization, holder_type, holder, reason, since, times_locked "
        "from locks join workspaces on workspaces.id = locks.workspace order by since, workspace"
    )
    return [dict(row) for row in rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["follow", "list"])
    command = parser.parse_args().command
    file = os.environ.get("INVENTORY_FILE", "inventory.db")
    # Without an isolation level, the module begins no transactions by itself.
    with closing(sqlite3.connect(file, timeout=TIMEOUT_SECONDS, isolation_level=None)) as database:
        # Readers do not wait for the process that writes.
        database.execute("pragma journal_mode = wal")
        database.executescript(TABLES)
        if command == "list":
            print(json.dumps(list_locks(database), indent=2))
        else:
            follow(database, file)


if __name__ == "__main__":
    try:
        main()
    except (Refusal, KafkaException, sqlite3.OperationalError) as failure:
        sys.exit(f"inventory: {failure}")
