import type { Sql } from '#kernel';
import type { Actor } from '#access';
import { defineRelated, type RelatedResources } from '#json-api';
import { renderRegistryProviderVersion } from './registry-provider-versions.document.js';
import { newestVersions, type RegistryProviderVersionRow } from './registry-provider-versions.queries.js';
import type { ReleaseLinks } from '../release-files/release.links.js';

/**
 * Returns versions of providers that the caller reads: callers that read a provider read its versions. If there are more
 * than fit on a page, the older ones are left out; the provider still names them, and its list of versions has pages.
 */
export const selectRelatedVersions = (ids: Sql, actor: Actor, links: ReleaseLinks): RelatedResources =>
  defineRelated<RegistryProviderVersionRow>(newestVersions(ids), (rows) =>
    rows.map((row) => renderRegistryProviderVersion(row, actor, links)),
  );
