create table views.saved_views (
  id text primary key,
  organization text not null,
  -- Id of the user who saved it.
  created_by text not null,
  name text not null,
  query text not null,
  shared boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint saved_views_owner_name_key unique (organization, created_by, name)
);
create index saved_views_shared on views.saved_views (organization, name, id) where shared;
-- For the deletion of the private views of a person who is forgotten.
create index saved_views_private on views.saved_views (created_by) where not shared;
