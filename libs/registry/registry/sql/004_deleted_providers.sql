-- Deleted providers that can be recovered, with their rows in views.registry_providers. Their versions, platforms and files
-- stay where they are, because every statement about them joins the provider.
create table views.deleted_registry_providers (
  id text primary key,
  organization text not null,
  name text not null,
  -- { id, type, name } of the caller
  deleted_by jsonb not null,
  deleted_at timestamptz not null,
  recoverable_until timestamptz not null,
  contents jsonb not null
);
create index deleted_registry_providers_by_organization
  on views.deleted_registry_providers (organization, deleted_at desc, id);
create index deleted_registry_providers_by_end on views.deleted_registry_providers (recoverable_until);
