import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock, Ids } from '#platform/kernel';
import { decideWrite, EventStore, expectVersion } from '#storage/event-store';
import { createEventContext, requirePermission, type Actor } from '#api/access';
import { Vault } from '#storage/vault';
import { prepareRunToken } from '../runs/issue-run-token.operation.js';
import { run } from '../runs/run.js';
import type { PhaseName } from '../runs/phases.js';
import { RunVariables } from '../runs/runs.variables.js';
import { JobValuesStore } from '../job-values/job-values.service.js';
import type { JobValues } from '../job-values/job-values.js';
import { loadRunForJob, type RunForJob } from './run-jobs.queries.js';

/** Everything that an executor needs for a phase of a run. It contains secrets. */
export type RunJob = {
  readonly run: RunForJob;
  readonly phase: PhaseName;
  readonly fence: number;
  readonly values: JobValues;
  readonly sshKey: string | null;
  /** The token of the run. */
  readonly token: string;
};

/** The log has no nonce: with it and a token of the pool, readers of the log could read the job again. */
const hashNonce = (nonce: string): string => createHash('sha256').update(nonce).digest('base64url');

type JobRequest = {
  readonly id: string;
  readonly fence: number;
  /** A text that the executor has chosen. */
  readonly nonce: string;
  readonly actor: Actor;
};

/** Gives executors what they need, and records that they have it. */
@Injectable()
export class RunJobs {
  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly clock: Clock,
    private readonly vault: Vault,
    private readonly values: JobValuesStore,
    private readonly variables: RunVariables,
  ) {}

  /**
   * Throws a conflict for an old fence, and if another process has read the job. Each answer has a new token of the run,
   * because the server stores only hashes of tokens.
   */
  read(request: JobRequest): Promise<RunJob> {
    return this.store.retryOnConflict(() => this.readOnce(request));
  }

  private async readOnce({ id, fence, nonce, actor }: JobRequest): Promise<RunJob> {
    const row = await loadRunForJob(this.store.database, actor, id);
    requirePermission(actor, 'execute-run', row);
    const loaded = await this.store.restore(id, run, row.snapshot);
    const command = { type: 'ReadJob', data: { fence, nonceHash: hashNonce(nonce) } } as const;
    const write = decideWrite(run, loaded, row.organization, command);
    const phase = loaded.state.status === 'applying' ? 'apply' : 'plan';
    const { presentVariables } = row;
    const values = presentVariables
      ? this.values.resolve(presentVariables, this.variables.of(row))
      : await this.values.read(id);
    const token = prepareRunToken({ ids: this.ids, clock: this.clock }, row.organization, id, actor);
    const writes = [
      expectVersion(row.organization, row.organizationVersion),
      expectVersion(row.workspace, row.workspaceVersion),
      write,
      token.write,
    ];
    const statements = [...(presentVariables ? [await this.values.store(row, values)] : []), ...token.statements];
    const { rows } = await this.store.append(writes, createEventContext(actor), statements);
    return { run: row, phase, fence, values, sshKey: this.decryptSshKey(row), token: token.issued(rows).secret };
  }

  private decryptSshKey({ sshKey, encryptedSshKey }: RunForJob): string | null {
    return sshKey !== null && encryptedSshKey !== null ? this.vault.decrypt(sshKey, encryptedSshKey) : null;
  }
}
