import type { MemberSearch } from '../../api/memberships.js';

/** Reads the filter of the list from the address. It ignores unknown parameters. */
export const parseMemberSearch = (search: Readonly<Record<string, unknown>>): MemberSearch => {
  const { name, status } = search;
  return {
    ...(typeof name === 'string' && name !== '' ? { name } : {}),
    ...(status === 'active' || status === 'invited' ? { status } : {}),
  };
};
