import { Refusal, type Clock, type DataOf, type Ids, type Logger } from '#platform/kernel';
import { computeRetryPause } from '#platform/outbound';
import { castRows, RequestRound, type JobRun, type ScheduledJob } from '#platform/postgres';
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
import { reportDueTaskRequests } from './task-requests.metrics.js';
import { TaskRequestRenderer } from './task-requests.renderer.js';
import {
  acceptTaskRequest,
  claimTaskRequests,
  countDueTaskRequests,
  deleteEndedTaskRequests,
  postponeTaskRequest,
  selectSilentResults,
  type DueTaskRequest,
  type DueTaskRequestCounts,
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

const DELETE_EVERY_MS = 60_000;

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
  const deleteEnded = createDeletion(store, clock);
  return {
    name: 'run_task_requests',
    everyMs: EVERY_MS,
    run: async (round) => {
      await deleteEnded();
      await new TaskRequestRound(dependencies, round).run();
    },
  };
};

/** Returns a function that deletes the requests of ended results. It reads all requests, so it does so once a minute. */
const createDeletion = (store: EventStore, clock: Clock): (() => Promise<void>) => {
  let dueAt = Number.NEGATIVE_INFINITY;
  return async () => {
    const now = clock.now().getTime();
    if (now < dueAt) return;
    dueAt = now + DELETE_EVERY_MS;
    await store.database.transaction([deleteEndedTaskRequests()]);
  };
};

class TaskRequestRound {
  constructor(
    private readonly dependencies: TaskRequestsDependencies,
    private readonly round: JobRun,
  ) {}

  async run(): Promise<void> {
    const requests = new RequestRound<DueTaskRequest>(this.round, {
      total: REQUEST_LIMITS.total,
      pollMs: POLL_MS,
      claim: (most, running) => this.claim(most, running),
      send: (due) => this.send(due),
      onPoll: async () => {
        await this.report();
        await this.endSilentResults();
      },
      // Without a request, all that was due has been taken. After an abort, another process reports.
      onEnd: () => reportDueTaskRequests(0, 0),
    });
    await this.endSilentResults();
    await requests.run();
  }

  private async claim(total: number, running: readonly RunningTaskRequest[]): Promise<readonly DueTaskRequest[]> {
    const { clock, store } = this.dependencies;
    const now = clock.now();
    const retryAt = new Date(now.getTime() + LEASE_MS);
    const claim = claimTaskRequests({ ...REQUEST_LIMITS, total, now, retryAt, running });
    return castRows<DueTaskRequest>((await store.database.transaction([claim]))[0] ?? []);
  }

  /** Reports how many requests wait because services are slow. */
  private async report(): Promise<void> {
    const { clock, store } = this.dependencies;
    const counts = await store.database.row<DueTaskRequestCounts>(countDueTaskRequests(clock.now()));
    reportDueTaskRequests(counts?.due ?? 0, counts?.oldestSeconds ?? 0);
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
    const pauseMs = computeRetryPause(attempts, random(), PAUSES_MS);
    if (problem === null) await store.database.transaction([acceptTaskRequest(result, now)]);
    else if (pauseMs === null)
      await this.endResult(
        { id: result, run: due.run },
        'unreachable',
        `The service did not accept the request: ${problem}`,
      );
    else await store.database.transaction([postponeTaskRequest(result, new Date(now.getTime() + pauseMs))]);
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
