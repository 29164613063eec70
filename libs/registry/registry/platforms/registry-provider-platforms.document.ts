import { can, type Identity } from '#api/access';
import { toOne, type Resource } from '#api/json-api';
import type { RegistryProviderPlatformRow } from './registry-provider-platforms.queries.js';
import { buildProviderPath } from '../providers/registry-providers.document.js';
import type { FileLinks } from '../release-files/release.links.js';

export const renderRegistryProviderPlatform = (
  row: RegistryProviderPlatformRow,
  actor: Identity,
  links: FileLinks,
): Resource => {
  const version = `${buildProviderPath(row.organizationName, row.providerName)}/versions/${row.version}`;
  const manages = can(actor, 'manage-providers', row);
  const file = { kind: 'binary', version: row.versionId, platform: row.id } as const;
  const fileLinks: Readonly<Record<string, string>> =
    row.size !== null
      ? { 'provider-binary-download': links.download(file, row.filename, actor) }
      : // The link replaces the permission, so callers that may not upload get none.
        manages
        ? { 'provider-binary-upload': links.upload(file, actor) }
        : {};
  return {
    id: row.id,
    type: 'registry-provider-platforms',
    attributes: {
      os: row.os,
      arch: row.arch,
      filename: row.filename,
      shasum: row.shasum,
      'provider-binary-uploaded': row.size !== null,
      permissions: { 'can-delete': manages, 'can-upload-asset': manages },
    },
    relationships: { 'registry-provider-version': toOne('registry-provider-versions', row.versionId, version) },
    links: { self: `${version}/platforms/${row.os}/${row.arch}`, ...fileLinks },
  };
};
