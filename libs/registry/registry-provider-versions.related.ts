import type { Sql } from '#kernel';
import type { Actor } from '#access';
import { related, type Related } from '#json-api';
import { registryProviderVersionResource } from './registry-provider-versions.document.js';
import { versionsByIds, type RegistryProviderVersionRow } from './registry-provider-versions.queries.js';
import type { ReleaseLinks } from './release.links.js';

/** Versions of providers that the caller reads: who reads one reads the others. */
export const relatedVersions = (ids: Sql, actor: Actor, links: ReleaseLinks): Related =>
  related<RegistryProviderVersionRow>(versionsByIds(ids), (rows) =>
    rows.map((row) => registryProviderVersionResource(row, actor, links)),
  );
