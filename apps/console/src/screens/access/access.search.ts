import type { AccessSearch } from '../../api/access.js';
import { toText } from '../../search-params.js';

/** Reads the filter of the matrix from the address. It ignores unknown parameters. */
export const parseAccessSearch = (search: Readonly<Record<string, unknown>>): AccessSearch => {
  const name = toText(search['name']);
  const project = toText(search['project']);
  return { ...(name === undefined ? {} : { name }), ...(project === undefined ? {} : { project }) };
};
