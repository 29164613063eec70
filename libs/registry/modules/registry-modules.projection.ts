import { sql, type OrganizationDeleted, type Projection } from '#platform/kernel';
import type { RegistryModuleEvent } from './registry-module.js';
import { isPreRelease, toSortableVersion } from './version-order.js';

const touch = (module: string, time: string) =>
  sql`update registry_modules set updated_at = ${time} where id = ${module}`;

export const registryModules: Projection<RegistryModuleEvent | OrganizationDeleted> = {
  name: 'registry_modules',
  version: 1,
  tables: ['registry_modules'],
  on: {
    RegistryModuleCreated: ({ name, provider, noCode }, { stream, organization, time }) => sql`
      insert into registry_modules (id, organization, name, provider, no_code, created_at, updated_at)
      values (${stream}, ${organization}, ${name}, ${provider}, ${noCode}, ${time}, ${time})`,
    RegistryModuleUpdated: ({ noCode }, { stream, time }) => sql`
      update registry_modules set no_code = ${noCode}, updated_at = ${time} where id = ${stream}`,
    RegistryModuleVersionCreated: (_, { stream, time }) => touch(stream, time),
    RegistryModuleVersionUploaded: (_, { stream, time }) => touch(stream, time),
    RegistryModuleVersionDeleted: (_, { stream, time }) => touch(stream, time),
    RegistryModuleDeleted: (_, { stream }) => sql`delete from registry_modules where id = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from registry_modules where organization = ${stream}`,
  },
};

type ModuleVersionEvent = Exclude<
  RegistryModuleEvent,
  { type: 'RegistryModuleCreated' } | { type: 'RegistryModuleUpdated' }
>;

export const registryModuleVersions: Projection<ModuleVersionEvent | OrganizationDeleted> = {
  name: 'registry_module_versions',
  version: 1,
  tables: ['registry_module_versions'],
  on: {
    RegistryModuleVersionCreated: ({ versionId, version, commitSha }, { stream, organization, time }) => sql`
      insert into registry_module_versions
        (id, module, organization, version, sortable, pre_release, commit_sha, created_at, updated_at)
      values (${versionId}, ${stream}, ${organization}, ${version}, ${toSortableVersion(version)},
              ${isPreRelease(version)}, ${commitSha}, ${time}, ${time})`,
    RegistryModuleVersionUploaded: ({ versionId, archive, size, sha256 }, { time }) => sql`
      update registry_module_versions set archive = ${archive}, size = ${size}, sha256 = ${sha256}, updated_at = ${time}
       where id = ${versionId}`,
    RegistryModuleVersionDeleted: ({ versionId }) => sql`delete from registry_module_versions where id = ${versionId}`,
    RegistryModuleDeleted: (_, { stream }) => sql`delete from registry_module_versions where module = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from registry_module_versions where organization = ${stream}`,
  },
};
