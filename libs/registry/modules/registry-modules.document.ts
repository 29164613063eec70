import { can, type Identity } from '#api/access';
import { linkTo, toOne, type Resource } from '#api/json-api';
import type { ModuleLinks } from './module.links.js';
import type { RegistryModuleRow, RegistryModuleVersionRow } from './registry-modules.queries.js';

type ModuleAddress = Pick<RegistryModuleRow, 'organizationName' | 'name' | 'provider'>;

const buildModulePath = ({ organizationName, name, provider }: ModuleAddress): string =>
  `/api/v2/organizations/${organizationName}/registry-modules/private/${organizationName}/${name}/${provider}`;

const toStatus = (isUploaded: boolean): 'ok' | 'pending' => (isUploaded ? 'ok' : 'pending');

export const renderRegistryModule = (row: RegistryModuleRow, actor: Identity): Resource => {
  const { organizationName, name, provider, noCode, versions } = row;
  const path = buildModulePath(row);
  return {
    id: row.id,
    type: 'registry-modules',
    attributes: {
      name,
      namespace: organizationName,
      provider,
      'registry-name': 'private',
      status: versions.some(({ isUploaded }) => isUploaded) ? 'setup_complete' : 'pending',
      'publishing-mechanism': 'non_vcs',
      'no-code': noCode,
      'version-statuses': versions.map(({ version, isUploaded }) => ({
        version,
        status: toStatus(isUploaded),
        error: '',
      })),
      'created-at': row.createdAt,
      'updated-at': row.updatedAt,
      permissions: {
        'can-delete': can(actor, 'manage-modules', row),
        // Only modules from repositories can be read again.
        'can-resync': false,
        'can-retry': false,
      },
    },
    relationships: {
      organization: toOne('organizations', organizationName, `/api/v2/organizations/${organizationName}`),
      versions: linkTo(`${path}/versions`),
    },
    links: { self: path },
  };
};

export const renderRegistryModuleVersion = (
  row: RegistryModuleVersionRow,
  actor: Identity,
  links: Pick<ModuleLinks, 'upload'>,
): Resource => {
  const path = buildModulePath({ ...row, name: row.moduleName });
  const canUpload = row.archive === null && can(actor, 'manage-modules', row);
  return {
    id: row.id,
    type: 'registry-module-versions',
    attributes: {
      version: row.version,
      source: 'tfe-api',
      status: toStatus(row.archive !== null),
      'commit-sha': row.commitSha,
      'created-at': row.createdAt,
      'updated-at': row.updatedAt,
    },
    relationships: { 'registry-module': toOne('registry-modules', row.module, path) },
    links: {
      self: `${path}/version?module_version=${encodeURIComponent(row.version)}`,
      // The link replaces the permission, so callers that may not upload get none.
      ...(canUpload ? { upload: links.upload(row.id, actor) } : {}),
    },
  };
};
