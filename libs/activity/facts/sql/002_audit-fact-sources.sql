create table views.audit_fact_sources (
  id text primary key,
  organization text not null,
  source text not null,
  description text not null,
  created_at timestamptz not null,
  constraint audit_fact_sources_organization_source_key unique (organization, source)
);
