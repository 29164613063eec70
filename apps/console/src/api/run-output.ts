import { queryOptions } from '@tanstack/react-query';
import { readDocument, requireAnswer, toApiError } from './api-error.js';
import { api } from './client.js';
import { ONCE } from './once.js';
import { runsKey } from './runs.js';

/** Bytes of one request. The server sends at most 1 MiB. */
const PART_BYTES = 1024 * 1024;

/** The log that a phase of a run writes: its address without a query. It contains a signature instead of a session. */
export const readLogPart = async (address: string, offset: number, signal?: AbortSignal): Promise<Uint8Array> => {
  // Only the path: the page can have another name of the server.
  const { pathname } = new URL(address);
  // A browser has few connections to a server, so that none may wait for output.
  const url = `${pathname}?offset=${offset}&limit=${PART_BYTES}&wait-seconds=0`;
  const response = await requireAnswer(fetch(url, signal ? { signal } : {}));
  if (!response.ok) throw toApiError(await response.json().catch(() => null), response);
  return new Uint8Array(await response.arrayBuffer());
};

/**
 * The changes of a plan in terraform's format, without sensitive values. It exists after the plan has ended, and never changes. The
 * server answers with the address of the file, which browsers follow.
 */
export const planDocumentQuery = (organization: string, run: string) =>
  queryOptions({
    ...ONCE,
    queryKey: [...runsKey(organization), 'one', run, 'plan-document'],
    queryFn: ({ signal }): Promise<Readonly<Record<string, unknown>>> => {
      const params = { path: { id: run } };
      return readDocument(api.GET('/api/v2/runs/{id}/plan/json-output-redacted', { params, signal }) as Promise<never>);
    },
  });
