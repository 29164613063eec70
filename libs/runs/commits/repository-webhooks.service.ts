import { randomBytes } from 'node:crypto';
import { sql, type Clock, type Ids } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { buildSecretDeletion, type Vault } from '#storage/vault';
import { GitHostError, MISSING_RIGHTS, type GitHost, type GitHostFailure } from '#vcs/git-hosts';
import { storeVcsEvents } from './vcs-events.queries.js';
import {
  deleteWebhook,
  findWebhookOfRepository,
  insertWebhook,
  listUnusedWebhooks,
  postponeRemoval,
  storeWebhookCheck,
  type UnusedWebhook,
} from './webhooks.queries.js';

/** How often the server checks that the host still has a webhook as it should be. */
const CHECK_EVERY_MS = 60 * 60_000;
const SECRET_BYTES = 32;
/** Webhooks that one round removes at most, and the time after which it leaves the others to the next round. */
const REMOVED_AT_ONCE = 100;
const REMOVE_WITHIN_MS = 30_000;
/** Failures after which the removal of a webhook is repeated. */
const TEMPORARY_FAILURES: readonly GitHostFailure[] = ['unavailable', 'rate-limited'];

type WatchedRepository = {
  readonly organization: string;
  readonly client: string;
  readonly token: string;
  readonly identifier: string;
};

type WebhookDependencies = {
  readonly database: Database;
  readonly vault: Pick<Vault, 'open' | 'storeSecret'>;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly clock: Clock;
  /** Origin under which Git hosts reach the server; null if there is none. */
  readonly publicUrl: string | null;
};

/** Creates and repairs the webhooks of repositories, and removes those that nobody needs. Polls work without them. */
export class RepositoryWebhooks {
  constructor(private readonly dependencies: WebhookDependencies) {}

  /** Creates the webhook of a repository, or repairs it. Checks it at most once an hour. Throws `out-of-time` errors of the host. */
  async ensure(host: GitHost, repository: WatchedRepository): Promise<void> {
    const { database, clock, publicUrl } = this.dependencies;
    if (publicUrl === null) return;
    const stored = await findWebhookOfRepository(database, repository.token, repository.identifier);
    const now = clock.now();
    if (stored?.checkedAt && now.getTime() - Date.parse(stored.checkedAt) < CHECK_EVERY_MS) return;
    const id = stored?.id ?? (await this.insert(repository));
    try {
      const hostId = await this.ensureAtHost(host, repository.identifier, id, stored?.hostId ?? null);
      await storeWebhookCheck(database, id, hostId, now.toISOString());
    } catch (error) {
      if (!(error instanceof GitHostError) || error.failure === 'out-of-time') throw error;
      await storeWebhookCheck(database, id, stored?.hostId ?? null, now.toISOString());
      await this.reportFailure(repository, error);
    }
  }

  /** Removes the webhooks of repositories that no workspace follows any more. `open` returns null for deleted connections. */
  async removeUnused(open: (webhook: UnusedWebhook) => Promise<GitHost | null>): Promise<void> {
    const { database, clock } = this.dependencies;
    const end = clock.now().getTime() + REMOVE_WITHIN_MS;
    for (const webhook of await listUnusedWebhooks(database, clock.now().toISOString(), REMOVED_AT_ONCE)) {
      if (clock.now().getTime() > end) return;
      try {
        const host = webhook.hostId === null ? null : await open(webhook);
        await host?.deleteWebhook(webhook.identifier, webhook.hostId ?? '');
      } catch (error) {
        if (!(error instanceof GitHostError)) throw error;
        if (TEMPORARY_FAILURES.includes(error.failure)) {
          await postponeRemoval(database, webhook.id, new Date(clock.now().getTime() + CHECK_EVERY_MS).toISOString());
          continue;
        }
        // The address is unknown from now on, so that a webhook that stays at the host does no harm.
      }
      await database.transaction([deleteWebhook(webhook.id), buildSecretDeletion(sql`${webhook.id}`)]);
    }
  }

  private async insert({ organization, token, identifier }: WatchedRepository): Promise<string> {
    const { database, vault, ids } = this.dependencies;
    const id = ids.uuid();
    const secret = randomBytes(SECRET_BYTES).toString('hex');
    // The row precedes the webhook, so that no webhook of the server is forgotten at the host.
    await database.transaction([
      insertWebhook({ id, organization, token, identifier }),
      vault.storeSecret(id, organization, secret),
    ]);
    return id;
  }

  /** Returns the id of the webhook at the host. Hosts do not show secrets, so that only a webhook of a known id has the right one. */
  private async ensureAtHost(
    host: GitHost,
    identifier: string,
    id: string,
    knownId: string | null,
  ): Promise<string | null> {
    const secret = await this.dependencies.vault.open(id);
    if (secret === undefined) return null;
    const url = `${this.dependencies.publicUrl ?? ''}/api/v2/webhooks/vcs/${id}`;
    const own = (await host.listWebhooks(identifier)).filter(
      (webhook) => webhook.url === url || webhook.id === knownId,
    );
    const right = own.find((webhook) => webhook.id === knownId && webhook.url === url && webhook.isComplete);
    for (const webhook of own) if (webhook !== right) await host.deleteWebhook(identifier, webhook.id);
    return right?.id ?? (await host.createWebhook(identifier, { url, secret }));
  }

  private async reportFailure({ identifier, ...repository }: WatchedRepository, error: GitHostError): Promise<void> {
    const { database, clock } = this.dependencies;
    const now = clock.now().toISOString();
    const event = {
      ...repository,
      workspace: null,
      level: 'error',
      message: `The webhook of ${identifier} could not be created: ${error.message}`,
      suggestedAction: MISSING_RIGHTS.includes(error.failure)
        ? 'Give the account of the connection the right to manage webhooks of the repository. Until then, the server reads the repository once a minute.'
        : null,
      subject: now.slice(0, 10),
    } as const;
    await database.rows(storeVcsEvents([event], now));
  }
}
