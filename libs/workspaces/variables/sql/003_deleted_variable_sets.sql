-- Deleted variable sets that can be recovered, with their rows in views.variable_sets. Their variables and targets stay
-- where they are, because every statement about them joins the set.
create table views.deleted_variable_sets (
  id text primary key,
  organization text not null,
  name text not null,
  -- The deleted project that owns the set, if the set was deleted with it and comes back with it.
  deleted_with text,
  -- { id, type, name } of the caller
  deleted_by jsonb not null,
  deleted_at timestamptz not null,
  recoverable_until timestamptz not null,
  contents jsonb not null
);
create index deleted_variable_sets_by_organization
  on views.deleted_variable_sets (organization, deleted_at desc, id);
create index deleted_variable_sets_by_end on views.deleted_variable_sets (recoverable_until);
create index deleted_variable_sets_by_project on views.deleted_variable_sets ((contents ->> 'project'));
