import type { IncomingHttpHeaders } from 'node:http';
import type { ImportOrigin } from '#platform/kernel';

/** The header with the ticket of a request that imports a resource. */
export const IMPORT_HEADER = 'cadastre-import-ticket';

/** Tickets of requests that this process is sending to a gateway of its own. All other gateways have none. */
const origins = new Map<string, ImportOrigin>();

/**
 * Sends a request that imports a resource. `ticket` must be random: clients of other processes cannot know it, so they
 * cannot state an origin.
 */
export const sendAsImport = async <T>(ticket: string, origin: ImportOrigin, send: () => Promise<T>): Promise<T> => {
  origins.set(ticket, origin);
  try {
    return await send();
  } finally {
    origins.delete(ticket);
  }
};

export const findImportedOrigin = ({ [IMPORT_HEADER]: ticket }: IncomingHttpHeaders): ImportOrigin | undefined =>
  typeof ticket === 'string' ? origins.get(ticket) : undefined;
