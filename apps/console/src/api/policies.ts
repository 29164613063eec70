import { queryOptions } from '@tanstack/react-query';
import { useRef } from 'react';
import type { ApiResource, RequestResource } from '#packages/client';
import { readData, readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { organizationKey } from './organizations.js';
import { pagedQuery, readAllPages } from './pages.js';
import { useChange } from './use-change.js';

export type ConsolePolicy = ApiResource<'Policy'>;
type PolicySettings = RequestResource<'createPolicy'>['attributes'];

export const POLICY_LEVELS = ['advisory', 'mandatory'] as const;
export type PolicyLevel = (typeof POLICY_LEVELS)[number];

const TYPE = 'policies';
const POLICIES = '/api/v2/organizations/{organization}/policies';
const POLICY = '/api/v2/policies/{id}';

export const policiesKey = (organization: string) => [...organizationKey(organization), TYPE] as const;

/** The policies of an organization, page by page. */
export const policiesQuery = (organization: string) =>
  pagedQuery([...policiesKey(organization), 'list'], (page, signal) =>
    readDocument(api.GET(POLICIES, { params: { path: { organization }, query: page }, signal })),
  );

/** All policies of an organization. */
export const allPoliciesQuery = (organization: string) =>
  queryOptions({
    queryKey: [...policiesKey(organization), 'all'],
    queryFn: async ({ signal }): Promise<readonly ConsolePolicy[]> => {
      const pages = await readAllPages((query) =>
        readDocument(api.GET(POLICIES, { params: { path: { organization }, query }, signal })),
      );
      return pages.flatMap(({ data }) => data);
    },
  });

/** The text of a policy; empty if nothing was uploaded. */
export const policyTextQuery = (organization: string, { id, attributes }: ConsolePolicy) =>
  queryOptions({
    queryKey: [...policiesKey(organization), 'text', id, attributes['updated-at']],
    queryFn: ({ signal }): Promise<string> | string => {
      if (attributes['updated-at'] === null) return '';
      const params = { path: { id } };
      return readDocument(api.GET('/api/v2/policies/{id}/download', { params, signal, parseAs: 'text' }));
    },
  });

const uploadText = (id: string, text: string): Promise<void> =>
  requireSuccess(
    api.PUT('/api/v2/policies/{id}/upload', {
      params: { path: { id } },
      body: text,
      bodySerializer: (body) => body,
      headers: { 'content-type': 'application/octet-stream' },
    }),
  );

/** `text`: null if it stays. */
type SavedPolicy<A> = { readonly attributes: A; readonly text: string | null };

/** Creates a policy, and then uploads its text. If only the upload is refused, the next attempt creates no second policy. */
export const useCreatePolicy = (organization: string) => {
  const created = useRef<string>(null);
  return useChange({
    mutationFn: async ({ attributes, text }: SavedPolicy<PolicySettings>) => {
      const data = { type: TYPE, attributes } as const;
      const path = created.current === null ? null : { id: created.current };
      const answer = path
        ? api.PATCH(POLICY, { params: { path }, body: { data } })
        : api.POST(POLICIES, { params: { path: { organization } }, body: { data } });
      const { id } = await readData(answer);
      created.current = id;
      if (text !== null) await uploadText(id, text);
    },
    rereads: policiesKey(organization),
  });
};

export const useUpdatePolicy = (organization: string, id: string) =>
  useChange({
    mutationFn: async ({ attributes, text }: SavedPolicy<Partial<PolicySettings>>) => {
      const body = { data: { type: TYPE, attributes } } as const;
      if (Object.keys(attributes).length > 0)
        await requireSuccess(api.PATCH(POLICY, { params: { path: { id } }, body }));
      if (text !== null) await uploadText(id, text);
    },
    rereads: policiesKey(organization),
  });

export const useDeletePolicy = (organization: string, id: string) =>
  useChange({
    mutationFn: () => requireSuccess(api.DELETE(POLICY, { params: { path: { id } } })),
    // The policy sets lose the policy too.
    rereads: organizationKey(organization),
  });
