import { SITE_WORKSPACE_FILTERS, type SiteWorkspaceSearch } from '../../api/site-workspaces.js';

const isFilter = (value: unknown): value is keyof typeof SITE_WORKSPACE_FILTERS =>
  typeof value === 'string' && Object.hasOwn(SITE_WORKSPACE_FILTERS, value);

/** Reads the filter of the list from the address. It ignores unknown parameters. */
export const parseSiteWorkspaceSearch = (search: Readonly<Record<string, unknown>>): SiteWorkspaceSearch => {
  const { name, runs } = search;
  return {
    ...(typeof name === 'string' && name !== '' ? { name } : {}),
    ...(isFilter(runs) ? { runs } : {}),
  };
};
