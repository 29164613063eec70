-- Whether owners want entries to be recorded while the organization has the entitlement (libs/audit-trail/writing/trail.ts).
alter table views.audit_trails add column enabled boolean not null default true;
alter table views.audit_trails alter column enabled drop default;

-- Only of organizations that have ever switched their trail off; the trails of the others are on.
create table views.audit_configurations (
  organization text primary key,
  enabled boolean not null,
  -- When it was last switched on and off. Null: never.
  enabled_at timestamptz,
  disabled_at timestamptz,
  updated_at timestamptz not null
);
