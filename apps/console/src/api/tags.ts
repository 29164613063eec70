import { queryOptions } from '@tanstack/react-query';
import type { ApiResource } from '#packages/client';
import { readData, readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { findIncluded } from './included.js';
import { organizationKey } from './organizations.js';
import { createTagReader, type TagFact } from './tag-facts.js';
import { useChange } from './use-change.js';

export type ReservedTagKey = ApiResource<'ReservedTagKey'>;

/** The number of workspaces that the API returns at most in one page. */
export const TAG_ROWS_IN_PAGE = 100;

const MAX_KEYS = 100;
const SHOWN_GAPS = 8;

/** Everything about tags of an organization has a key that begins with this one. */
const tagsKey = (organization: string) => [...organizationKey(organization), 'tags'] as const;

export const reservedKeysQuery = (organization: string) =>
  queryOptions({
    queryKey: [...tagsKey(organization), 'reserved'],
    queryFn: ({ signal }) => {
      const params = { path: { organization }, query: { 'page[size]': MAX_KEYS } };
      const path = '/api/v2/organizations/{organization}/reserved-tag-keys';
      return readData(api.GET(path, { params, signal }));
    },
  });

export type WorkspaceTagsRow = {
  readonly id: string;
  readonly name: string;
  readonly project: string;
  readonly tags: readonly TagFact[];
  /** Reserved keys without a value, if the server has listed them. */
  readonly missing: readonly string[] | null;
};

type TagRowPage = { readonly rows: readonly WorkspaceTagsRow[]; readonly total: number };

/** One page of workspaces with the tags that apply to them. */
export const tagRowsQuery = (organization: string, name: string, page: number) =>
  queryOptions({
    queryKey: [...tagsKey(organization), 'rows', name, page],
    queryFn: async ({ signal }): Promise<TagRowPage> => {
      const query = {
        'page[number]': page,
        'page[size]': TAG_ROWS_IN_PAGE,
        include: ['project' as const, 'effective_tag_bindings' as const],
        ...(name === '' ? {} : { 'search[name]': name }),
      };
      const params = { path: { organization }, query };
      const document = await readDocument(
        api.GET('/api/v2/organizations/{organization}/workspaces', { params, signal }),
      );
      const readTags = createTagReader(document);
      return {
        rows: document.data.map((workspace) => ({
          id: workspace.id,
          name: workspace.attributes.name,
          project: findIncluded(document, workspace.relationships.project.data)?.attributes.name ?? '',
          tags: readTags(workspace),
          missing: null,
        })),
        total: document.meta.pagination['total-count'],
      };
    },
  });

/** One page of the workspaces that have no value for a reserved key. */
export const gapRowsQuery = (organization: string, page: number) =>
  queryOptions({
    queryKey: [...tagsKey(organization), 'gaps', page],
    queryFn: async ({ signal }): Promise<TagRowPage> => {
      const query = { 'page[number]': page, 'page[size]': TAG_ROWS_IN_PAGE };
      const params = { path: { organization }, query };
      const { data, meta } = await readDocument(
        api.GET('/api/v2/organizations/{organization}/tag-compliance', { params, signal }),
      );
      return {
        rows: data.map(({ id, attributes }): WorkspaceTagsRow => ({
          id,
          name: attributes['workspace-name'],
          project: attributes['project-name'],
          tags: [],
          missing: attributes['missing-keys'],
        })),
        total: meta.pagination['total-count'],
      };
    },
  });

/** `id`: the reserved key that changes, or null. */
export type KeyProposal = { readonly id: string | null; readonly key: string; readonly disableOverrides: boolean };

/** The effect of a reservation: the workspaces that override the key, and those without a value. It changes nothing. */
export const keyPreviewQuery = (organization: string, { id, key, disableOverrides }: KeyProposal) =>
  queryOptions({
    queryKey: [...tagsKey(organization), 'preview', id, key, disableOverrides],
    queryFn: async ({ signal }) => {
      const attributes = { key, 'disable-overrides': disableOverrides };
      const body = { data: { type: 'reserved-tag-keys' as const, ...(id === null ? {} : { id }), attributes } };
      const path = { organization };
      const [preview, gaps] = await Promise.all([
        readDocument(
          api.POST('/api/v2/organizations/{organization}/reserved-tag-keys/actions/preview', {
            params: { path, query: { 'page[size]': SHOWN_GAPS } },
            body,
            signal,
          }),
        ),
        readDocument(
          api.GET('/api/v2/organizations/{organization}/tag-compliance', {
            params: { path, query: { 'page[size]': SHOWN_GAPS, 'filter[proposed-key]': key } },
            signal,
          }),
        ),
      ]);
      const { after } = preview.meta.preview;
      return {
        overrides: preview.data.map(({ attributes: each }) => ({
          workspace: each['workspace-name'],
          value: each.value,
          projectValue: each['project-value'],
        })),
        overrideCount: after['override-count'],
        refusedIn: after['refused-in'],
        gaps: gaps.data.map(({ attributes: each }) => each['workspace-name']),
        gapCount: gaps.meta.pagination['total-count'],
      };
    },
  });

/** A new reserved key, or the fields of an existing one that change. */
type KeyChange =
  | { readonly id: null; readonly key: string; readonly disableOverrides: boolean }
  | { readonly id: string; readonly key?: string; readonly disableOverrides?: boolean };

export const useSaveReservedKey = (organization: string) =>
  useChange({
    mutationFn: (change: KeyChange) => {
      const type = 'reserved-tag-keys' as const;
      if (change.id === null) {
        const attributes = { key: change.key, 'disable-overrides': change.disableOverrides };
        const params = { path: { organization } };
        const path = '/api/v2/organizations/{organization}/reserved-tag-keys';
        return requireSuccess(api.POST(path, { params, body: { data: { type, attributes } } }));
      }
      const { id, key, disableOverrides } = change;
      const attributes = {
        ...(key === undefined ? {} : { key }),
        ...(disableOverrides === undefined ? {} : { 'disable-overrides': disableOverrides }),
      };
      const params = { path: { id } };
      return requireSuccess(
        api.PATCH('/api/v2/reserved-tag-keys/{id}', { params, body: { data: { type, attributes } } }),
      );
    },
    rereads: tagsKey(organization),
  });

export const useDeleteReservedKey = (organization: string) =>
  useChange({
    mutationFn: (id: string) =>
      requireSuccess(api.DELETE('/api/v2/reserved-tag-keys/{id}', { params: { path: { id } } })),
    rereads: tagsKey(organization),
  });
