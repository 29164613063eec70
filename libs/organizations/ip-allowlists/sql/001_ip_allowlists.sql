create table views.ip_allowlists (
  id text primary key,
  organization text not null,
  name text not null,
  description text,
  -- organization, all_agent_pools or selected_agent_pools.
  enforcement_scope text not null,
  agent_pools text[] not null default '{}',
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint ip_allowlists_organization_name_key unique (organization, name)
);
create unique index ip_allowlists_one_for_organization on views.ip_allowlists (organization)
  where enforcement_scope = 'organization';
-- Names are unique regardless of case.
create index ip_allowlists_by_folded_name on views.ip_allowlists (organization, lower(name collate "C"));

create table views.ip_allowlist_ranges (
  id text primary key,
  list text not null,
  organization text not null,
  -- In CIDR notation, in one spelling.
  range text not null,
  description text,
  enabled boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index ip_allowlist_ranges_by_list on views.ip_allowlist_ranges (list);
create index ip_allowlist_ranges_by_organization on views.ip_allowlist_ranges (organization) where enabled;
