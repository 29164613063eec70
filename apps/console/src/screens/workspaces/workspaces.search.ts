import { WORKSPACE_SORTS, type WorkspaceSearch } from '../../api/workspaces.js';
import { toList } from '../../search-params.js';

/** Changes members of the search. Undefined removes a member. */
export type ChangeSearch = (changes: Partial<WorkspaceSearch>) => void;

const toText = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** Reads the filter of the list from the address. It ignores what it does not know. */
export const parseWorkspaceSearch = (search: Readonly<Record<string, unknown>>): WorkspaceSearch => {
  const tags = toList(search['tags']);
  const status = toList(search['status']);
  const name = toText(search['name']);
  const project = toText(search['project']);
  const sort = WORKSPACE_SORTS.find((each) => each === search['sort']);
  return {
    ...(name === undefined ? {} : { name }),
    ...(tags.length > 0 ? { tags } : {}),
    ...(project === undefined ? {} : { project }),
    ...(status.length > 0 ? { status } : {}),
    ...(sort === undefined ? {} : { sort }),
  };
};
