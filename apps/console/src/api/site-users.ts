import type { ApiResource } from '#packages/client';
import { readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { pagedQuery } from './pages.js';
import { useChange } from './use-change.js';

export type SiteUser = ApiResource<'AdministeredUser'>;

export type SiteUserSearch = { readonly name?: string; readonly status?: 'administrators' | 'suspended' };

const SITE_USERS_KEY = ['site-users'] as const;

/** The users of the site, page by page. */
export const siteUsersQuery = ({ name, status }: SiteUserSearch) =>
  pagedQuery([...SITE_USERS_KEY, name, status], (page, signal) => {
    const query = {
      ...page,
      ...(name ? { q: name } : {}),
      ...(status === 'administrators' ? { 'filter[admin]': 'true' } : {}),
      ...(status === 'suspended' ? { 'filter[suspended]': 'true' } : {}),
    };
    return readDocument(api.GET('/api/v2/admin/users', { params: { query }, signal }));
  });

export type SiteUserAction = 'suspend' | 'unsuspend' | 'grant_admin' | 'revoke_admin' | 'disable_two_factor';

export type SiteUserChange = { readonly id: string; readonly action: SiteUserAction | 'end_sessions' | 'forget' };

const sendChange = async ({ id, action }: SiteUserChange): Promise<void> => {
  const params = { path: { id } };
  if (action === 'forget') return requireSuccess(api.DELETE('/api/v2/admin/users/{id}', { params }));
  if (action === 'end_sessions') return requireSuccess(api.DELETE('/api/v2/users/{id}/sessions', { params }));
  const path = `/api/v2/admin/users/{id}/actions/${action}` as const;
  await readDocument(api.POST(path, { params }));
};

export const useChangeSiteUser = () => useChange({ mutationFn: sendChange, rereads: SITE_USERS_KEY });
