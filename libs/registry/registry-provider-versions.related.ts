import type { Sql } from '#kernel';
import type { Actor } from '#access';
import { related, type Related } from '#json-api';
import { registryProviderVersionResource } from './registry-provider-versions.document.js';
import { newestVersions, type RegistryProviderVersionRow } from './registry-provider-versions.queries.js';
import type { ReleaseLinks } from './release.links.js';

/**
 * Returns versions of providers that the caller reads: callers that read a provider read its versions. If there are more
 * than fit on a page, the older ones are left out; the provider still names them, and its list of versions has pages.
 */
export const relatedVersions = (ids: Sql, actor: Actor, links: ReleaseLinks): Related =>
  related<RegistryProviderVersionRow>(newestVersions(ids), (rows) =>
    rows.map((row) => registryProviderVersionResource(row, actor, links)),
  );
