-- What the server has read of the repository of each workspace. No view: the Git host decides it.
create schema commits;
create table commits.followed (
  workspace text primary key,
  -- The connection, the repository and the ref. With another one, the workspace begins again.
  source text not null,
  -- SHA of the commit that was decided last
  head text,
  -- SHAs of tags by their names
  tags jsonb not null default '{}',
  read_at timestamptz not null
);
