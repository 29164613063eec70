import { queryOptions } from '@tanstack/react-query';
import type { ApiResource } from '#packages/client';
import { readDocument } from './api-error.js';
import { api } from './client.js';
import { findIncluded } from './included.js';
import { organizationKey } from './organizations.js';
import { RUN_RESULTS } from './runs.js';

/* What the first screen of an organization shows: a few rows of each list, and the number of all. */

const ROWS_IN_CARD = 6;

const homeKey = (organization: string) => [...organizationKey(organization), 'home'] as const;

/** The workspaces that changed last. */
export const lastChangesQuery = (organization: string) =>
  queryOptions({
    queryKey: [...homeKey(organization), 'changes'],
    queryFn: async ({ signal }) => {
      const params = {
        path: { organization },
        query: { 'page[size]': ROWS_IN_CARD, sort: '-latest-change-at' as const },
      };
      const path = '/api/v2/organizations/{organization}/workspaces';
      const { data, meta } = await readDocument(api.GET(path, { params, signal }));
      const rows = data.map(({ id, attributes }) => ({
        id,
        name: attributes.name,
        changedAt: attributes['latest-change-at'],
      }));
      return { rows, total: meta.pagination['total-count'] };
    },
  });

/** The number of workspaces that changed since midnight in the time zone of the reader. */
export const changesTodayQuery = (organization: string, midnight: string) =>
  queryOptions({
    queryKey: [...homeKey(organization), 'changes-today', midnight],
    queryFn: async ({ signal }) => {
      const params = { path: { organization }, query: { 'page[size]': 1, 'filter[changed-since]': midnight } };
      const path = '/api/v2/organizations/{organization}/workspaces';
      return (await readDocument(api.GET(path, { params, signal }))).meta.pagination['total-count'];
    },
  });

type ListedLock = ApiResource<'WorkspaceLock'>;

/** Returns the holder of a lock. */
const describeLockHolder = ({ attributes }: ListedLock): string =>
  attributes['locked-by-name'] ?? 'a team that you may not see';

/** The present locks of people and teams, the oldest first. Runs unlock their workspaces themselves when they end. */
export const locksQuery = (organization: string) =>
  queryOptions({
    queryKey: [...homeKey(organization), 'locks'],
    queryFn: async ({ signal }) => {
      const query = { 'page[size]': ROWS_IN_CARD, 'filter[locked-by]': ['users' as const, 'teams' as const] };
      const params = { path: { organization }, query };
      const path = '/api/v2/organizations/{organization}/locks';
      const { data, meta } = await readDocument(api.GET(path, { params, signal }));
      const rows = data.map((lock) => ({
        id: lock.id,
        workspace: lock.attributes['workspace-name'] ?? '',
        holder: describeLockHolder(lock),
        since: lock.attributes['locked-at'],
        reason: lock.attributes.reason,
      }));
      return { rows, total: meta.pagination['total-count'] };
    },
  });

/** The runs that the person may confirm or discard, and that wait for it. */
export const waitingRunsQuery = (organization: string) =>
  queryOptions({
    queryKey: [...homeKey(organization), 'waiting-runs'],
    queryFn: async ({ signal }) => {
      const query = {
        'page[size]': ROWS_IN_CARD,
        'filter[waits-for]': 'me' as const,
        include: ['workspace' as const],
      };
      const params = { path: { organization }, query };
      const document = await readDocument(api.GET('/api/v2/organizations/{organization}/runs', { params, signal }));
      return document.data.map(({ id, attributes, relationships }) => ({
        id,
        workspace: findIncluded(document, relationships.workspace.data)?.attributes.name ?? '',
        status: attributes.status,
        hasChanges: attributes['has-changes'],
        message: attributes.message,
        since: attributes['created-at'],
      }));
    },
  });

/** The runs that failed since a time, the newest first. */
export const failedRunsQuery = (organization: string, since: string) =>
  queryOptions({
    queryKey: [...homeKey(organization), 'failed-runs', since],
    queryFn: async ({ signal }) => {
      const query = {
        'page[size]': ROWS_IN_CARD,
        'filter[status]': [...RUN_RESULTS.failed],
        'filter[created-since]': since,
        include: ['workspace' as const],
      };
      const params = { path: { organization }, query };
      const document = await readDocument(api.GET('/api/v2/organizations/{organization}/runs', { params, signal }));
      const rows = document.data.map(({ id, attributes, relationships }) => ({
        id,
        workspace: findIncluded(document, relationships.workspace.data)?.attributes.name ?? '',
        message: attributes.message,
        createdAt: attributes['created-at'],
      }));
      return { rows, total: document.meta.pagination['total-count'] };
    },
  });

/** The first projects by name, with the number of their workspaces that the person may read. */
export const firstProjectsQuery = (organization: string) =>
  queryOptions({
    queryKey: [...homeKey(organization), 'projects'],
    queryFn: async ({ signal }) => {
      const params = { path: { organization }, query: { 'page[size]': ROWS_IN_CARD, sort: 'name' as const } };
      const path = '/api/v2/organizations/{organization}/projects';
      const { data, meta } = await readDocument(api.GET(path, { params, signal }));
      const rows = data.map(({ id, attributes }) => ({
        id,
        name: attributes.name,
        workspaceCount: attributes['workspace-count'],
      }));
      return { rows, total: meta.pagination['total-count'] };
    },
  });
