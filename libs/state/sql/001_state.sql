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
