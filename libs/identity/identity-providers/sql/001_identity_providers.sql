create table views.identity_providers (
  id text primary key,
  settings jsonb not null,
  created_at timestamptz not null
);
create unique index identity_providers_name_key on views.identity_providers (lower(settings ->> 'name'));
