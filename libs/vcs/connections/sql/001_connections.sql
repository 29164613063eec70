-- Connections of organizations to Git hosts. Each has at most one token, whose text the vault stores under the token's id.
create table views.oauth_clients (
  id text primary key,
  organization text not null,
  name text,
  service_provider text not null,
  http_url text not null,
  api_url text not null,
  organization_scoped boolean not null,
  projects jsonb not null,
  token text unique,
  token_user text,
  token_has_ssh_key boolean not null,
  token_created_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index oauth_clients_by_organization on views.oauth_clients (organization, created_at, id);
