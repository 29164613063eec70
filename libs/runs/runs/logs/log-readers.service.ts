import { LRUCache } from 'lru-cache';
import { can, findCurrentIdentity, isOutdatedAccessError, repeatWhileAccessChanges, type Identity } from '#api/access';
import { notFound } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import type { LinkRecipient, LogTarget } from '../runs/run-logs.links.js';
import type { LogRange } from './run-log.js';
import { listChunksOfLink } from './run-logs.queries.js';

const MAX_IDENTITIES = 1_000;
const LIFETIME_MS = 60_000;

/** Callers whose access to the runs of an organization can change without the end of their token. */
const CHANGEABLE: readonly string[] = ['users', 'teams'];

/**
 * Reads logs for the callers that links were made for. A link is valid for a day, and a reader polls every second. So identities
 * are kept, and each statement checks that the access has not changed since.
 */
export class LogReaders {
  private readonly identities = new LRUCache<string, Identity>({ max: MAX_IDENTITIES, ttl: LIFETIME_MS });

  constructor(private readonly database: Database) {}

  /** Throws not-found if the caller may not read the run any more. */
  listChunks(
    target: LogTarget,
    recipient: LinkRecipient,
    range: LogRange,
  ): Promise<Awaited<ReturnType<typeof listChunksOfLink>>> {
    return repeatWhileAccessChanges(async () => {
      const identity = await this.identify(recipient);
      try {
        const rows = await listChunksOfLink(this.database, target, { ...recipient, identity }, range);
        const [row] = rows;
        if (row && identity && !can(identity, 'read-runs', row)) throw notFound();
        return rows;
      } catch (error) {
        if (isOutdatedAccessError(error)) this.identities.delete(recipient.id);
        throw error;
      }
    });
  }

  private async identify(recipient: LinkRecipient): Promise<Identity | null> {
    if (!CHANGEABLE.includes(recipient.type)) return null;
    const cachedIdentity = this.identities.get(recipient.id);
    if (cachedIdentity) return cachedIdentity;
    const identity = await findCurrentIdentity(this.database, recipient);
    this.identities.set(recipient.id, identity);
    return identity;
  }
}
