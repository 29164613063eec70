create table views.registry_modules (
  id text primary key,
  organization text not null,
  name text not null,
  provider text not null,
  no_code boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
-- Clients and people find a module regardless of case.
create unique index registry_modules_names_key
  on views.registry_modules (organization, lower(name collate "C"), provider);

create table views.registry_module_versions (
  id text primary key,
  module text not null,
  organization text not null,
  version text not null,
  -- A text in the order of versions, and whether clients install the version only if a configuration names it.
  sortable text collate "C" not null,
  pre_release boolean not null,
  commit_sha text,
  -- The number of the file; null until the archive is uploaded.
  archive int,
  size bigint,
  sha256 text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index registry_module_versions_by_order
  on views.registry_module_versions (module, pre_release, sortable desc);
create index registry_module_versions_by_organization on views.registry_module_versions (organization);

create schema modules;

-- Versions whose archives may be in the file store: see libs/storage/blob-store/file-sweeper.follower.ts.
create table modules.kept_archives (
  id text primary key,
  owner text not null,
  organization text not null
);
create index kept_archives_by_owner on modules.kept_archives (owner);
create index kept_archives_by_organization on modules.kept_archives (organization);
