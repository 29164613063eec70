create table views.policies (
  id text primary key,
  organization text not null,
  name text not null,
  description text not null,
  query text not null,
  enforcement_level text not null,
  -- SHA-256 and bytes of the text, which the vault has. Null before the first upload.
  sha256 text,
  size integer,
  created_at timestamptz not null,
  -- When the text was uploaded last.
  uploaded_at timestamptz,
  constraint policies_organization_name_key unique (organization, name)
);

create table views.policy_sets (
  id text primary key,
  organization text not null,
  name text not null,
  description text not null,
  global boolean not null,
  overridable boolean not null,
  tool_version text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint policy_sets_organization_name_key unique (organization, name)
);

-- The policies of sets, and the workspaces and projects that they belong to or exclude.
create table views.policy_set_members (
  policy_set text not null,
  organization text not null,
  relation text not null,
  member text not null,
  primary key (policy_set, relation, member)
);
create index policy_set_members_by_member on views.policy_set_members (member);
create index policy_set_members_by_organization on views.policy_set_members (organization);
