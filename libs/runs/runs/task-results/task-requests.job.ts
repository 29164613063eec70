import { Refusal, type Clock, type DataOf, type Ids, type Logger } from '#platform/kernel';
import { castRows, pause, type JobRun, type ScheduledJob } from '#platform/postgres';
import { createSystemContext } from '#api/access';
import { describeRefusedRequest, TaskSender } from '#runs/run-tasks';
import type { EventStore } from '#storage/event-store';
import { SignedLinks } from '#storage/blob-store';
import { Vault } from '#storage/vault';
import type { EncryptionKeys } from '#platform/encryption';
import { ConfigurationLinks } from '../configuration-versions/configuration-version.links.js';
import { PlanDocumentLinks } from '../plan-documents/plan-documents.links.js';
import type { LinkSigner } from '../runs/recipient.links.js';
import { TaskTokens } from './task-tokens.links.js';
import { changeForJob } from '../runs/change-run.operation.js';
import type { RunCommand } from '../runs/run.js';
import { TaskRequestRenderer } from './task-requests.renderer.js';
import {
  acceptTaskRequest,
  claimTaskRequests,
  deleteEndedTaskRequests,
  postponeTaskRequest,
  selectSilentResults,
  type DueTaskRequest,
  type RunningTaskRequest,
  type SilentResult,
  type TaskRequestLimits,
} from './task-requests.queries.js';

const EVERY_MS = 1_000;
/** While requests run, new ones are taken after this time. */
const POLL_MS = 500;
/** Longer than the time limit of a request. A request whose process was killed is sent again after this time. */
const LEASE_MS = 30_000;
/** Pauses before the second, third … attempt. */
const PAUSES_MS = [2_000, 10_000, 30_000, 60_000] as const;

/** A service that reports nothing for this time has failed. */
const SILENCE_MS = 10 * 60_000;
/** No service works longer. */
const MOST_MS = 60 * 60_000;
const SILENT_AT_ONCE = 100;

const REQUEST_LIMITS: TaskRequestLimits = { total: 64, perOrganization: 8, perHost: 4 };

type TaskRequestsDependencies = {
  readonly store: EventStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly vault: Vault;
  readonly sender: TaskSender;
  readonly renderer: TaskRequestRenderer;
  readonly logger: Logger;
  /** Returns a number from 0 to below 1. */
  readonly random: () => number;
};

type RunTasksJobOptions = {
  readonly store: EventStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly encryptionKeys: EncryptionKeys;
  readonly logger: Logger;
  readonly publicUrl: string;
  /** Hosts with private addresses that services may have. */
  readonly outboundPrivateHosts: readonly string[];
};

/**
 * Sends the requests of run tasks, and ends the results of silent services. The log decides what a result means for the run, so that
 * a request which is sent twice, or a late end, changes nothing.
 */
export const createRunTasksJob = (options: RunTasksJobOptions): ScheduledJob => {
  const { store, clock, ids, logger, encryptionKeys, publicUrl } = options;
  const sign: LinkSigner = (purpose) => new SignedLinks(encryptionKeys, purpose, clock);
  const dependencies = {
    store,
    clock,
    ids,
    logger,
    vault: new Vault(store.database, encryptionKeys),
    sender: new TaskSender(options.outboundPrivateHosts),
    renderer: new TaskRequestRenderer(
      publicUrl,
      TaskTokens.with(sign),
      ConfigurationLinks.with(publicUrl, sign),
      PlanDocumentLinks.with(publicUrl, sign),
    ),
    random: Math.random,
  };
  return {
    name: 'run_task_requests',
    everyMs: EVERY_MS,
    run: (round) => new TaskRequestRound(dependencies, round).run(),
  };
};

class TaskRequestRound {
  private readonly requests = new Map<Promise<void>, RunningTaskRequest>();
  /** The first error of the round. */
  private failure: { readonly error: unknown } | null = null;

  constructor(
    private readonly dependencies: TaskRequestsDependencies,
    private readonly round: JobRun,
  ) {}

  async run(): Promise<void> {
    const { signal } = this.round;
    await this.endSilentResults();
    while (!signal.aborted && !this.failure) {
      for (const due of await this.claim()) this.start(due);
      if (this.requests.size === 0) break;
      await this.waitForChange();
      await this.endSilentResults();
    }
    await Promise.all(this.requests.keys());
    if (this.failure) throw this.failure.error;
  }

  private async claim(): Promise<readonly DueTaskRequest[]> {
    const { clock, store } = this.dependencies;
    const total = REQUEST_LIMITS.total - this.requests.size;
    if (total <= 0) return [];
    const now = clock.now();
    const retryAt = new Date(now.getTime() + LEASE_MS);
    const running = [...this.requests.values()];
    const claim = claimTaskRequests({ ...REQUEST_LIMITS, total, now, retryAt, running });
    return castRows<DueTaskRequest>((await store.database.transaction([claim]))[0] ?? []);
  }

  private start(due: DueTaskRequest): void {
    const request = this.send(due)
      .catch((error: unknown) => {
        // After an abort the request stays due, and another process sends it when its lease ends.
        if (!this.round.signal.aborted) this.failure ??= { error };
      })
      .finally(() => this.requests.delete(request));
    this.requests.set(request, { organization: due.organization, host: due.host });
  }

  /** Resolves when a request has ended, or after a pause, so that a slow service does not delay others. */
  private async waitForChange(): Promise<void> {
    const ended = new AbortController();
    const signal = AbortSignal.any([ended.signal, this.round.signal]);
    await Promise.race([...this.requests.keys(), pause(POLL_MS, signal)]);
    ended.abort();
  }

  private async send(due: DueTaskRequest): Promise<void> {
    const { clock, random, renderer, sender, store } = this.dependencies;
    const { result, service, attempts } = due;
    if (!service) return this.endResult({ id: result, run: due.run }, 'errored', 'The run task was deleted');
    const key = this.decryptKey(service.id, service.encryptedKey);
    if (key === undefined)
      return this.endResult({ id: result, run: due.run }, 'errored', 'The key could not be decrypted');
    const answer = await sender.send({ url: service.url, key }, renderer.render(due), this.round.signal);
    const problem = describeRefusedRequest(answer);
    const now = clock.now();
    const pauseMs = PAUSES_MS[attempts - 1];
    if (problem === null) await store.database.transaction([acceptTaskRequest(result, now)]);
    else if (pauseMs === undefined)
      await this.endResult(
        { id: result, run: due.run },
        'unreachable',
        `The service did not accept the request: ${problem}`,
      );
    else {
      const until = new Date(now.getTime() + pauseMs * (0.8 + 0.4 * random()));
      await store.database.transaction([postponeTaskRequest(result, until)]);
    }
    this.round.done();
  }

  /** Returns undefined for a damaged key: one task must not stop all others. */
  private decryptKey(task: string, encrypted: string | null): string | null | undefined {
    try {
      return encrypted === null ? null : this.dependencies.vault.decrypt(task, encrypted);
    } catch (err) {
      this.dependencies.logger.warn({ err, task }, 'the key of a run task could not be decrypted');
      return undefined;
    }
  }

  private async endSilentResults(): Promise<void> {
    const { clock, logger, store } = this.dependencies;
    const now = clock.now().getTime();
    await store.database.transaction([deleteEndedTaskRequests()]);
    const silent = await store.database.rows<SilentResult>(
      selectSilentResults(new Date(now - SILENCE_MS), new Date(now - MOST_MS), SILENT_AT_ONCE),
    );
    for (const result of silent) {
      if (this.round.signal.aborted) return;
      try {
        await this.endResult(result, 'errored', 'The service did not report a result in time');
      } catch (err) {
        // The next round tries it again. It must not stop the requests of other runs.
        logger.warn({ err, run: result.run, result: result.id }, 'the result of a run task could not be ended');
      }
      this.round.done();
    }
  }

  private async endResult(
    { id, run }: SilentResult,
    status: DataOf<RunCommand, 'EndTaskResult'>['status'],
    message: string,
  ): Promise<void> {
    const { ids, store } = this.dependencies;
    const command = { type: 'EndTaskResult', data: { result: id, status, message } } as const;
    try {
      await changeForJob(store, run, command, createSystemContext('run tasks', ids.uuid()));
    } catch (error) {
      // The workspace was deleted.
      if (!(error instanceof Refusal) || error.kind !== 'not-found') throw error;
    }
  }
}
