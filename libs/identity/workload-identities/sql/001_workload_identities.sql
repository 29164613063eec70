create table views.workload_identities (
  id text primary key,
  organization text not null,
  team text not null,
  name text not null,
  description text,
  issuer text not null,
  audience text,
  claims jsonb not null,
  token_minutes integer not null,
  enabled boolean not null,
  created_at timestamptz not null,
  constraint workload_identities_team_name_key unique (team, name)
);
create index workload_identities_by_organization on views.workload_identities (organization);
