create table views.registry_providers (
  id text primary key,
  organization text not null,
  name text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index registry_providers_organization_name_key on views.registry_providers (organization, name);

create table views.registry_provider_versions (
  id text primary key,
  provider text not null,
  organization text not null,
  version text not null,
  -- The version without its build metadata: versions that differ in that alone are one to the clients (semver §10).
  precedence text not null,
  key_id text not null,
  protocols jsonb not null,
  -- {size, sha256}; null until it is uploaded.
  shasums jsonb,
  -- {size, sha256, verified}
  signature jsonb,
  published_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index registry_provider_versions_provider_precedence_key
  on views.registry_provider_versions (provider, precedence);
create index registry_provider_versions_by_age on views.registry_provider_versions (provider, created_at desc, id);
create index registry_provider_versions_by_organization on views.registry_provider_versions (organization);

create table views.registry_provider_platforms (
  id text primary key,
  version text not null,
  organization text not null,
  os text not null,
  arch text not null,
  filename text not null,
  shasum text not null,
  -- Bytes of the zip; null until it is uploaded.
  size bigint
);
create unique index registry_provider_platforms_version_os_arch_key
  on views.registry_provider_platforms (version, os, arch);
create index registry_provider_platforms_by_organization on views.registry_provider_platforms (organization);

create table views.gpg_keys (
  id text primary key,
  organization text not null,
  key_id text not null,
  ascii_armor text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index gpg_keys_organization_key_id_key on views.gpg_keys (organization, key_id);

create schema registry;

-- What lies in the blob store and an event tells of: see libs/blob-store/file-sweeper.follower.ts.
create table registry.kept_files (
  id text primary key,
  owner text not null,
  organization text not null
);
create index kept_files_by_owner on registry.kept_files (owner);
create index kept_files_by_organization on registry.kept_files (organization);

-- What may lie there and no event tells of yet. Written before a file, gone with its event: what a killed process leaves
-- behind is found here (libs/registry/release-files/abandoned-uploads.job.ts). No view: it comes from requests, not from the log.
create table registry.open_uploads (
  id text not null,
  attempt uuid not null,
  since timestamptz not null,
  primary key (id, attempt)
);
create index open_uploads_by_age on registry.open_uploads (since);
