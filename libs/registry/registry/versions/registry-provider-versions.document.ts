import { can, type Identity } from '#api/access';
import { linkTo, toMany, toOne, type Resource } from '#api/json-api';
import { formatChecksumsName, formatSignatureName } from '#registry/provider-release';
import type { RegistryProviderVersionRow, VersionCompleteness } from './registry-provider-versions.queries.js';
import { buildProviderPath } from '../providers/registry-providers.document.js';
import type { FileLinks } from '../release-files/release.links.js';

/** Returns what is missing before the version can be installed, in the order of upload. */
export const listMissing = (row: VersionCompleteness): readonly string[] => [
  ...(row.shasums ? [] : ['SHA256SUMS']),
  ...(row.signature?.verified ? [] : ['SHA256SUMS.sig']),
  ...(row.hasKey ? [] : [`GPG key ${row.keyId}`]),
  ...(row.platforms.length > 0 ? [] : ['a platform']),
  ...row.platforms.flatMap(({ filename, size }) => (size === null ? [filename] : [])),
];

/** Returns whether clients are served the version: it was published, it has a zip to install, and its key exists. */
export const isUsable = ({ publishedAt, platforms, hasKey }: RegistryProviderVersionRow): boolean =>
  publishedAt !== null && hasKey && platforms.some(({ size }) => size !== null);

const buildFileLinks = (
  row: RegistryProviderVersionRow,
  { actor, manages }: { readonly actor: Identity; readonly manages: boolean },
  links: FileLinks,
): Readonly<Record<string, string>> => {
  const { id: version } = row;
  const release = { name: row.providerName, version: row.version };
  const link = (kind: 'shasums' | 'shasums-sig', filename: string, isHere: boolean): [string, string][] => {
    if (isHere) return [[`${kind}-download`, links.download({ kind, version }, filename, actor)]];
    // The link replaces the permission, so callers that may not upload get none.
    return manages ? [[`${kind}-upload`, links.upload({ kind, version }, actor)]] : [];
  };
  return Object.fromEntries([
    ...link('shasums', formatChecksumsName(release), row.shasums !== null),
    ...link('shasums-sig', formatSignatureName(release), row.signature?.verified === true),
  ]);
};

export const renderRegistryProviderVersion = (
  row: RegistryProviderVersionRow,
  actor: Identity,
  links: FileLinks,
): Resource => {
  const provider = buildProviderPath(row.organizationName, row.providerName);
  const path = `${provider}/versions/${row.version}`;
  const manages = can(actor, 'manage-providers', row);
  return {
    id: row.id,
    type: 'registry-provider-versions',
    attributes: {
      version: row.version,
      'key-id': row.keyId,
      protocols: row.protocols,
      'created-at': row.createdAt,
      'updated-at': row.updatedAt,
      'shasums-uploaded': row.shasums !== null,
      'shasums-sig-uploaded': row.signature?.verified === true,
      // Cadastre's own attributes: whether clients are served the version, and what it lacks.
      usable: isUsable(row),
      missing: listMissing(row),
      permissions: { 'can-delete': manages, 'can-upload-asset': manages },
    },
    relationships: {
      'registry-provider': toOne('registry-providers', row.provider, provider),
      platforms: {
        ...toMany(
          'registry-provider-platforms',
          row.platforms.map(({ id }) => id),
        ),
        ...linkTo(`${path}/platforms`),
      },
    },
    links: { self: path, ...buildFileLinks(row, { actor, manages }, links) },
  };
};
