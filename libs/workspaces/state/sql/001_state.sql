create table views.state_versions (
  id text primary key,
  workspace text not null,
  organization text not null,
  -- Version of the event that made it: the order within the workspace.
  created_in bigint not null,
  serial bigint not null,
  lineage text,
  md5 text not null,
  -- pending until its file is here, then finalized; discarded where it never came
  status text not null,
  -- Made while the workspace was locked and not, or not yet, made current by its unlocking.
  intermediate boolean not null,
  -- { type, id, name }
  created_by jsonb not null,
  run text,
  -- What the file says, null while it is not here
  size bigint,
  terraform_version text,
  resources integer,
  providers jsonb,
  modules jsonb,
  created_at timestamptz not null,
  finalized_at timestamptz
) with (fillfactor = 60);
create index state_versions_by_workspace on views.state_versions (workspace, created_in desc);
create index state_versions_by_organization on views.state_versions (organization);

-- Names and types only: values are read from the state file when they are asked for.
create table views.state_version_outputs (
  id text primary key,
  state_version text not null,
  workspace text not null,
  organization text not null,
  name text not null,
  sensitive boolean not null,
  type text not null,
  detailed_type jsonb
);
create index state_version_outputs_by_version on views.state_version_outputs (state_version, name);
create index state_version_outputs_by_workspace on views.state_version_outputs (workspace);
create index state_version_outputs_by_organization on views.state_version_outputs (organization);
