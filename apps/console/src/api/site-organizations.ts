import { queryOptions } from '@tanstack/react-query';
import type { ApiResource } from '#packages/client';
import { readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { findIncluded } from './included.js';
import { pagedQuery } from './pages.js';
import { useChange } from './use-change.js';

type AdministeredOrganization = ApiResource<'AdministeredOrganization'>;

export type SiteOrganization = {
  /** The name, which is the id in this list. */
  readonly id: string;
  readonly attributes: AdministeredOrganization['attributes'];
  readonly featureSet: string;
  /** Usernames of the active owners. */
  readonly owners: readonly string[];
};

const SITE_ORGANIZATIONS_KEY = ['site-organizations'] as const;

/** All organizations of the site, page by page. */
export const siteOrganizationsQuery = (name = '') =>
  pagedQuery([...SITE_ORGANIZATIONS_KEY, name], async (page, signal) => {
    const query = { ...page, include: ['owners' as const], ...(name === '' ? {} : { q: name }) };
    const document = await readDocument(api.GET('/api/v2/admin/organizations', { params: { query }, signal }));
    const data = document.data.map(({ id, attributes, relationships }): SiteOrganization => ({
      id,
      attributes,
      featureSet: relationships['feature-set'].data.id,
      owners: relationships.owners.data.flatMap((user) => findIncluded(document, user)?.attributes.username ?? []),
    }));
    return { data, meta: document.meta };
  });

/** The feature sets that an organization can have. */
export const featureSetsQuery = queryOptions({
  queryKey: ['feature-sets'],
  queryFn: async ({ signal }) => (await readDocument(api.GET('/api/v2/admin/feature-sets', { signal }))).data,
});

/** Deletes any organization, also one that the person does not own. */
export const useDeleteSiteOrganization = () =>
  useChange({
    mutationFn: (organization: string) =>
      requireSuccess(api.DELETE('/api/v2/admin/organizations/{organization}', { params: { path: { organization } } })),
    rereads: SITE_ORGANIZATIONS_KEY,
  });

type ChangedFeatureSet = { readonly organization: string; readonly featureSet: string };

export const useChangeFeatureSet = () =>
  useChange({
    mutationFn: ({ organization, featureSet }: ChangedFeatureSet) => {
      const params = { path: { organization } };
      const relationships = { 'feature-set': { data: { type: 'feature-sets' as const, id: featureSet } } };
      const body = { data: { type: 'subscriptions' as const, relationships } };
      return readDocument(api.POST('/api/v2/admin/organizations/{organization}/subscription', { params, body }));
    },
    rereads: SITE_ORGANIZATIONS_KEY,
  });
