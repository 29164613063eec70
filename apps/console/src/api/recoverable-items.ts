import type { ApiResource } from '#packages/client';
import { readData, readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { organizationKey } from './organizations.js';
import { pagedQuery } from './pages.js';
import { useChange } from './use-change.js';

export type RecoverableItem = ApiResource<'RecoverableItem'>;

const TYPE = 'recoverable-items';
const ITEMS = '/api/v2/organizations/{organization}/recoverable-items';
/** A resource that was deleted just now is on the first page. */
const FIRST_PAGE = { 'page[size]': 20 } as const;

const itemsKey = (organization: string) => [...organizationKey(organization), TYPE] as const;

/** What was deleted and the person may recover, page by page, the last deleted one first. */
export const recoverableItemsQuery = (organization: string) =>
  pagedQuery([...itemsKey(organization), 'list'], (page, signal) =>
    readDocument(api.GET(ITEMS, { params: { path: { organization }, query: page }, signal })),
  );

/** Returns whether a resource that was deleted just now can be recovered. The site can have final deletions. */
export const isRecoverable = async (organization: string, id: string): Promise<boolean> => {
  const params = { path: { organization }, query: FIRST_PAGE };
  const items = await readData(api.GET(ITEMS, { params })).catch(() => []);
  return items.some((item) => item.id === id);
};

/** Recovers a resource, under another name if there is one. */
export const useRecoverItem = (organization: string) =>
  useChange({
    mutationFn: ({ id, name }: { readonly id: string; readonly name?: string }) => {
      const body = name === undefined ? {} : { data: { type: TYPE, attributes: { name } } as const };
      return readData(api.POST('/api/v2/recoverable-items/{id}/actions/recover', { params: { path: { id } }, body }));
    },
    // It is in lists, counts and statistics again.
    rereads: organizationKey(organization),
  });

/** Removes a deleted resource for good. */
export const usePurgeItem = (organization: string) =>
  useChange({
    mutationFn: (id: string) =>
      requireSuccess(api.DELETE('/api/v2/recoverable-items/{id}', { params: { path: { id } } })),
    rereads: itemsKey(organization),
  });
