import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock, Ids } from '#platform/kernel';
import { decideWrite, EventStore, expectVersion } from '#storage/event-store';
import { createEventContext, requirePermission, type Actor } from '#api/access';
import { Vault } from '#storage/vault';
import type { ChosenPolicySet } from '../policy-evaluations/run-policies.js';
import { createPolicyChoice } from '../runs/policy-choice.ids.js';
import { prepareRunToken } from '../runs/issue-run-token.operation.js';
import { run } from '../runs/run.js';
import type { RunState } from '../runs/run-state.js';
import type { EnforcedPolicy } from '#runs/policies/rules';
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
  /** The policies of the plan, each once for each version of OPA. */
  readonly policies: readonly EvaluatedPolicy[];
  /** The texts of the policies in Rego, by their SHA-256. */
  readonly policyTexts: ReadonlyMap<string, string>;
};

type EvaluatedPolicy = {
  readonly policy: EnforcedPolicy;
  readonly toolVersion: string;
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
    const choice = createPolicyChoice(row, fence);
    const command = { type: 'ReadJob', data: { fence, nonceHash: hashNonce(nonce), choice } } as const;
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
    // A repeated request gets the policies of the first one, on which the server has decided.
    const sets = isJobRead(loaded.state) ? listChosenSets(loaded.state) : choice.sets;
    const policies = phase === 'plan' ? listPolicies(sets) : [];
    const { rows } = await this.store.append(writes, createEventContext(actor), statements);
    return {
      run: row,
      phase,
      fence,
      values,
      sshKey: this.decryptSshKey(row),
      token: token.issued(rows).secret,
      policies,
      policyTexts: this.decryptTexts(row, policies),
    };
  }

  /** Without texts that were deleted, or replaced after the first request of the executor: their policies cannot be evaluated. */
  private decryptTexts({ policyTexts }: RunForJob, policies: readonly EvaluatedPolicy[]): ReadonlyMap<string, string> {
    const encrypted = new Map(policyTexts.map((one) => [one.policy, one.encryptedText]));
    const texts = new Map<string, string>();
    for (const { policy, sha256 } of policies.map((one) => one.policy)) {
      const encryptedText = encrypted.get(policy);
      if (sha256 === null || texts.has(sha256) || typeof encryptedText !== 'string') continue;
      const text = this.vault.decrypt(policy, encryptedText);
      if (createHash('sha256').update(text).digest('hex') === sha256) texts.set(sha256, text);
    }
    return texts;
  }

  private decryptSshKey({ sshKey, encryptedSshKey }: RunForJob): string | null {
    return sshKey !== null && encryptedSshKey !== null ? this.vault.decrypt(sshKey, encryptedSshKey) : null;
  }
}

const isJobRead = (state: RunState): boolean => state.status !== 'absent' && state.jobNonce !== null;

const listChosenSets = (state: RunState): readonly ChosenPolicySet[] =>
  state.status === 'absent' ? [] : (state.policies?.sets ?? []);

const listPolicies = (sets: readonly ChosenPolicySet[]): readonly EvaluatedPolicy[] => {
  const all = sets.flatMap(({ toolVersion, policies }) => policies.map((policy) => ({ policy, toolVersion })));
  return [...new Map(all.map((one) => [`${one.policy.policy} ${one.toolVersion}`, one])).values()];
};
