create table views.organizations (
  id text primary key,
  name text not null constraint organizations_name_key unique,
  email text not null,
  feature_set text not null,
  default_project text not null,
  owners_team text not null,
  settings jsonb not null,
  created_at timestamptz not null
);

create table views.projects (
  id text primary key,
  organization text not null,
  name text not null,
  description text,
  settings jsonb not null,
  created_at timestamptz not null,
  constraint projects_organization_name_key unique (organization, name)
);
