create schema state_topics;

-- The documents in state topics: which keys the topics contain, and with which content.
create table state_topics.documents (
  -- JSON:API type, or a type of its own for lists.
  type text not null,
  key text not null,
  organization text not null,
  -- SHA-256 of the document and of the version of its stream; null if it must be published again.
  digest bytea,
  -- The document contains the events of all transactions before this one; null if it must be read again.
  complete_before xid8,
  -- The highest position in the log that a message with this key has named.
  position bigint not null,
  primary key (type, key)
) with (fillfactor = 80);
create index documents_by_organization on state_topics.documents (organization, type);

-- What the documents depend on besides events: versions of schemas, and exchanges of rebuilt views.
create table state_topics.generation (
  id boolean primary key default true check (id),
  fingerprint text not null
);
