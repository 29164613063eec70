import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { ApiError } from '../../../api/api-error.js';
import { savedViewQuery, type SavedView } from '../../../api/saved-views.js';
import { formatSearch, parseSearch } from '../../../search-params.js';
import { parseWorkspaceSearch, type ChangeSearch, type ListSearch } from '../workspaces.search.js';

/** Returns the filters, the order and the columns as the API saves them. */
export const formatViewQuery = ({ view: _view, ...search }: ListSearch): string => formatSearch(search).slice(1);

/** Returns what a saved view shows. It ignores parameters that this version of the console does not know. */
const parseViewQuery = (query: string): ListSearch => parseWorkspaceSearch(parseSearch(query));

export type OpenedView = {
  /** Undefined if no view is open, or until it is loaded. */
  readonly view: SavedView | undefined;
  readonly isMissing: boolean;
  /** Whether the list shows something else than what is saved. */
  readonly isChanged: boolean;
};

/** Reads the view that the address names. An address with a view alone shows what is saved in it. */
export const useOpenedView = (organization: string, search: ListSearch, replace: ChangeSearch): OpenedView => {
  const { view: id } = search;
  const { data, error } = useQuery({ ...savedViewQuery(organization, id ?? ''), enabled: id !== undefined });
  const applied = useRef<string | null>(null);
  const isAlone = formatViewQuery(search) === '';
  useEffect(() => {
    if (id === undefined || applied.current === id) return;
    if (!isAlone) applied.current = id;
    else if (data?.id === id) {
      applied.current = id;
      replace(parseViewQuery(data.attributes.query));
    }
  }, [id, isAlone, data, replace]);
  const saved = data && formatViewQuery(parseViewQuery(data.attributes.query));
  const isMissing = error instanceof ApiError && error.isNotFound;
  return { view: data, isMissing, isChanged: saved !== undefined && saved !== formatViewQuery(search) };
};
