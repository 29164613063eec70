import { queryOptions } from '@tanstack/react-query';
import type { ApiResource } from '#packages/client';
import { ApiError, readData, readDocument } from './api-error.js';
import { trailKey } from './audit-trail.js';
import { api } from './client.js';

const LOG = '/api/v2/organizations/{organization}/audit-trail-log';

/** A checkpoint follows an entry within ten seconds. */
const REFRESH_MS = 5_000;

export type TrailLogStatus = ApiResource<'AuditTrailLogStatus'>['attributes'];

const findOrNull = async <T>(answer: Promise<T>): Promise<T | null> => {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError && error.isNotFound) return null;
    throw error;
  }
};

const readText = (answer: unknown): Promise<string> => readDocument(answer as Promise<never>);

const readLogStatus = async (organization: string, signal: AbortSignal): Promise<TrailLogStatus | null> => {
  const status = await findOrNull(readData(api.GET(LOG, { params: { path: { organization } }, signal })));
  return status && status.attributes;
};

/** The newest checkpoint, and who has cosigned the log of the site. Null until the first checkpoint is signed. */
export const trailLogStatusQuery = (organization: string) =>
  queryOptions({
    queryKey: [...trailKey(organization), 'log'],
    queryFn: ({ signal }) => readLogStatus(organization, signal),
    refetchInterval: ({ state }) => (state.status === 'error' ? false : REFRESH_MS),
  });

/** Whether the log proves an entry: by a proof, not yet, or not at all. `log`: the state of the log, null if there is none. */
export type EntryProofState =
  | { readonly kind: 'proved'; readonly proof: string; readonly log: TrailLogStatus | null }
  | { readonly kind: 'waiting' | 'absent'; readonly log: TrailLogStatus | null };

const readProof = async (organization: string, entry: string, signal: AbortSignal) => {
  try {
    const params = { path: { organization, entry } };
    const proof = await readText(api.GET(`${LOG}/entries/{entry}/proof`, { params, signal, parseAs: 'text' }));
    return { kind: 'proved', proof } as const;
  } catch (error) {
    if (error instanceof ApiError && error.isNotFound) return { kind: 'absent' } as const;
    if (error instanceof ApiError && error.status === 503) return { kind: 'waiting' } as const;
    throw error;
  }
};

/** The proof of an entry. It is read again while no checkpoint contains the entry. */
export const entryProofQuery = (organization: string, entry: string) =>
  queryOptions({
    queryKey: [...trailKey(organization), 'log', 'proof', entry],
    queryFn: async ({ signal }): Promise<EntryProofState> => {
      const proof = await readProof(organization, entry, signal);
      return { ...proof, log: await readLogStatus(organization, signal) };
    },
    // A proof stays valid.
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: ({ state: { data } }) => (data?.kind === 'waiting' ? REFRESH_MS : false),
  });

/** The verifier keys of the log, one a line, the present one first. */
export const trailLogKeysQuery = (organization: string) =>
  queryOptions({
    queryKey: [...trailKey(organization), 'log', 'keys'],
    queryFn: ({ signal }) => {
      const params = { path: { organization } };
      return readText(api.GET(`${LOG}/keys`, { params, signal, parseAs: 'text' }));
    },
  });

/** Returns the address of the proof of an entry, as a file. */
export const getProofAddress = (organization: string, entry: string): string =>
  `${LOG.replace('{organization}', encodeURIComponent(organization))}/entries/${entry}/proof`;

/** Reads the proof that the log of the site has the checkpoint with this digest. Returns null if it does not have it yet. */
export const readSiteProof = async (digest: string): Promise<string | null> => {
  try {
    const params = { path: { digest } };
    return await readText(api.GET('/audit-trail-log/checkpoints/{digest}/proof', { params, parseAs: 'text' }));
  } catch (error) {
    if (error instanceof ApiError && (error.isNotFound || error.status === 503)) return null;
    throw error;
  }
};

/** Reads the verifier keys of the log of the site, one a line. */
export const readSiteKeys = (): Promise<string> => readText(api.GET('/audit-trail-log/keys', { parseAs: 'text' }));
