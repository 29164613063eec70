-- The comment of a connection on a pull request, and what it was written for. Rows of old pull requests are deleted: the comment has
-- a mark, by which it is found at the Git host.
create table commits.comments (
  organization text not null,
  -- id of the OAuth token
  token text not null,
  identifier text not null,
  number bigint not null,
  -- id of the comment at the Git host; null if the host has refused it
  comment text,
  -- SHA-256 of its text; null before the first comment
  digest text,
  -- digest of the runs with their statuses, which the text need not show
  runs text not null,
  written_at timestamptz not null,
  primary key (organization, token, identifier, number)
);
create index comments_by_age on commits.comments (written_at);
