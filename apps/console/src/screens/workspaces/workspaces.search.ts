import { LOCK_STATES, WORKSPACE_SORTS, type WorkspaceSearch } from '../../api/workspaces.js';
import { toList, toText } from '../../search-params.js';

/** Columns that a person can hide. */
export const OPTIONAL_COLUMNS = ['run', 'project', 'tags', 'resources', 'changed'] as const;
export type OptionalColumn = (typeof OPTIONAL_COLUMNS)[number];

/** What the address of the screen contains: the filters and the order of the list, and how it is shown. */
export type ListSearch = WorkspaceSearch & {
  /** Without it, the list shows all columns. */
  readonly columns?: readonly OptionalColumn[];
  /** The id of the saved view that is open. */
  readonly view?: string;
};

/** Changes members of the search. Undefined removes a member. */
export type ChangeSearch = (changes: Partial<ListSearch>) => void;

/** Removes all filters besides the name. */
export const NO_FILTERS = {
  tags: undefined,
  project: undefined,
  status: undefined,
  gaps: undefined,
  locked: undefined,
} satisfies Partial<ListSearch>;

/** Reads the filter of the list from the address. It ignores unknown parameters. */
export const parseWorkspaceSearch = (search: Readonly<Record<string, unknown>>): ListSearch => {
  const tags = toList(search['tags']);
  const status = toList(search['status']);
  const name = toText(search['name']);
  const project = toText(search['project']);
  const locked = LOCK_STATES.find((each) => each === search['locked']);
  const sort = WORKSPACE_SORTS.find((each) => each === search['sort']);
  const view = toText(search['view']);
  const chosen = toList(search['columns']);
  const columns = OPTIONAL_COLUMNS.filter((column) => chosen.includes(column));
  return {
    ...(name === undefined ? {} : { name }),
    ...(tags.length > 0 ? { tags } : {}),
    ...(project === undefined ? {} : { project }),
    ...(status.length > 0 ? { status } : {}),
    ...(search['gaps'] === 'true' ? { gaps: 'true' } : {}),
    ...(locked === undefined ? {} : { locked }),
    ...(sort === undefined ? {} : { sort }),
    ...(columns.length > 0 && columns.length < OPTIONAL_COLUMNS.length ? { columns } : {}),
    ...(view === undefined ? {} : { view }),
  };
};

/** Returns what the API needs. Another choice of columns shows the same rows. */
export const getApiSearch = ({ columns: _columns, view: _view, ...search }: ListSearch): WorkspaceSearch => search;
