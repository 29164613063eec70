import type { Sql } from '#platform/kernel';
import type { Actor } from '#api/access';
import { defineRelated, type RelatedResources } from '#api/json-api';
import { renderRegistryProviderVersion } from './registry-provider-versions.document.js';
import { newestVersions, type RegistryProviderVersionRow } from './registry-provider-versions.queries.js';
import type { ReleaseLinks } from '../release-files/release.links.js';

/**
 * Returns included versions of providers. A caller that can read a provider can read its versions. If they exceed one
 * page, the older ones are omitted; the provider still lists their ids, and its list of versions has pages.
 */
export const selectRelatedVersions = (ids: Sql, actor: Actor, links: ReleaseLinks): RelatedResources =>
  defineRelated<RegistryProviderVersionRow>(newestVersions(ids), (rows) =>
    rows.map((row) => renderRegistryProviderVersion(row, actor, links)),
  );
