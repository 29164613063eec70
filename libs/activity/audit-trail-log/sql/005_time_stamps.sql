-- Time stamps (RFC 3161) of checkpoints of the log of the site. Durable: an authority does not stamp the past again, so no
-- rebuild changes them.
create table audit_trail.time_stamps (
  -- The SHA-256 of the note, in hexadecimal.
  id text primary key,
  origin text not null,
  size bigint not null,
  -- The bytes that were stamped. Witnesses can add cosignatures to the note of the checkpoint later.
  note text not null,
  -- The answer of the authority, as DER.
  response bytea not null,
  authority text not null,
  policy text not null,
  stamped_at timestamptz not null,
  -- By the clock of the site.
  stored_at timestamptz not null
);

create index time_stamps_origin on audit_trail.time_stamps (origin, size desc);
create index time_stamps_stamped on audit_trail.time_stamps (stamped_at desc, size desc, id);
