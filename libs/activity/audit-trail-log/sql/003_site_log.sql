-- The leaves of the log of the site: each has 32 bytes that name a log, and a digest of a checkpoint of it.
create table audit_trail.site_leaves (
  index bigint primary key,
  leaf bytea not null
);

-- The leaves of all logs.
create view audit_trail.log_leaves as
  select organization, index, leaf from audit_trail.leaves
  union all
  select 'site'::text, index, leaf from audit_trail.site_leaves;

-- Whether cosignatures of a quorum of witnesses were added to the note. Only for the log of the site.
alter table audit_trail.signed_checkpoints add column witnessed boolean not null default false;

-- The size of the last checkpoint that each witness has cosigned.
create table audit_trail.witnesses (
  origin text not null,
  verifier_key text not null,
  size bigint not null,
  primary key (origin, verifier_key)
);
