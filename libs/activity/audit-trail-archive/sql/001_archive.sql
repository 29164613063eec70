-- What was delivered to the archive. Durable: the archive keeps its objects when views are computed again.
create table audit_trail.archive_deliveries (
  organization text not null,
  -- A log that continues under another origin is delivered again from its beginning, to another folder.
  origin text not null,
  -- How many entries of the log were delivered.
  delivered bigint not null default 0,
  -- The size of the newest checkpoint that was delivered with its tiles.
  tree_size bigint not null default 0,
  -- What is being delivered: entries up to this number, and the size of the checkpoint that proves them. It is stored before
  -- the first object, so that a process that was killed delivers the same objects again. Null if nothing is.
  planned bigint,
  planned_size bigint,
  primary key (organization, origin)
);
