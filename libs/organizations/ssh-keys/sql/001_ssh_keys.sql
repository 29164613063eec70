create table views.ssh_keys (
  id text primary key,
  organization text not null,
  name text not null,
  created_at timestamptz not null
);
create index ssh_keys_by_organization on views.ssh_keys (organization, name, id);
