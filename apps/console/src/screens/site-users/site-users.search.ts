import type { SiteUserSearch } from '../../api/site-users.js';

/** Reads the filter of the list from the address. It ignores unknown parameters. */
export const parseSiteUserSearch = (search: Readonly<Record<string, unknown>>): SiteUserSearch => {
  const { name, status } = search;
  return {
    ...(typeof name === 'string' && name !== '' ? { name } : {}),
    ...(status === 'administrators' || status === 'suspended' ? { status } : {}),
  };
};
