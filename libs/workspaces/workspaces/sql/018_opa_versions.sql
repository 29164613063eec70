-- Releases of OPA that administrators of the site have added or changed. The server lists the others.
create table views.opa_versions (
  id text primary key,
  version text not null,
  settings jsonb not null,
  -- Null for a release that the server lists.
  created_at timestamptz
);
