create table views.configuration_versions (
  id text primary key,
  workspace text not null,
  organization text not null,
  source text not null,
  auto_queue_runs boolean not null,
  speculative boolean not null,
  provisional boolean not null,
  -- { type, id, name }
  created_by jsonb not null,
  -- Whether they may apply runs
  may_apply boolean not null,
  status text not null,
  -- When it came to each status but the first: { "uploaded": time, … }
  reached jsonb not null,
  error text,
  error_message text,
  -- Of the archive, null while it is not here
  size bigint,
  -- The workspace's current one is that which became so last; null for those that did not.
  current_since timestamptz,
  -- The commit that it was made of, null for those that were uploaded.
  ingress jsonb,
  created_at timestamptz not null
) with (fillfactor = 60);
create index configuration_versions_by_workspace on views.configuration_versions (workspace, created_at desc, id desc);
create index configuration_versions_by_organization on views.configuration_versions (organization);
create index configuration_versions_current on views.configuration_versions (workspace, current_since desc, id desc)
  where current_since is not null;

-- Which archives there may be, for those who remove them (libs/blob-store/file-sweeper.follower.ts). No view: what is
-- deleted leaves no rows there, and its files must still be found.
create schema runs;
create table runs.kept_archives (
  id text primary key,
  workspace text not null,
  organization text not null
);
create index kept_archives_by_workspace on runs.kept_archives (workspace);
create index kept_archives_by_organization on runs.kept_archives (organization);
