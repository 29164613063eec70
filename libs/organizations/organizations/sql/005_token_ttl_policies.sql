-- Organizations from before the setting, as the upcast of their events has it (libs/organizations/organizations.events.ts).
update views.organizations set settings = settings || '{"maxTtlEnabled": false}';

-- By type of token: its longest life, and when somebody last changed that. The default: DEFAULT_MAX_TTLS.
alter table views.organizations add column token_ttl_policies jsonb not null default '{
  "organization": {"maxTtlMs": 63113904000, "updatedAt": null},
  "team": {"maxTtlMs": 63113904000, "updatedAt": null},
  "user": {"maxTtlMs": 63113904000, "updatedAt": null},
  "audit_trails": {"maxTtlMs": 63113904000, "updatedAt": null}
}';
