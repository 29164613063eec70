-- The transparency logs of audit trails. Durable: what was published cannot be computed again, so no rebuild changes it.

-- Complete tiles of 256 hashes. Partial tiles are computed on request.
create table audit_trail.tiles (
  organization text not null,
  level smallint not null,
  index bigint not null,
  -- Level 0: the leaves themselves, before they are hashed. Level n: the roots of 256 tiles of level n - 1.
  hashes bytea not null,
  -- The hash of the complete subtree.
  root bytea not null,
  primary key (organization, level, index)
);
-- Hashes cannot be compressed.
alter table audit_trail.tiles alter column hashes set storage external;

-- Every checkpoint that was published. A log continues under another origin after a restore of an older database.
create table audit_trail.signed_checkpoints (
  organization text not null,
  origin text not null,
  size bigint not null,
  root bytea not null,
  -- The signed note, as it is answered.
  note text not null,
  signed_at timestamptz not null,
  primary key (organization, origin, size)
);
