import { z } from 'zod';
import { phaseJob, type PhaseJob } from './phase-job.js';
import { RefusedRequestError, type ServerConnection } from './server-connection.js';

export const PHASES = ['plan', 'apply'] as const;
export type Phase = (typeof PHASES)[number];

const PROTOCOL_VERSION = '1.0';
/** The server accepts no longer message of a report. */
const MAX_MESSAGE_CHARACTERS = 10_000;

const lease = z.object({
  // A part of paths.
  id: z.string().regex(/^run-[A-Za-z0-9]+$/),
  attributes: z.object({ phase: z.enum(PHASES), fence: z.number(), 'canceled-at': z.string().nullable() }),
});

const claimAnswer = z.object({
  data: lease.nullable(),
  included: z
    .array(z.object({ type: z.string(), attributes: z.object({ 'plan-only': z.boolean().optional() }) }))
    .optional(),
});
const leaseAnswer = z.object({ data: lease.nullable() });
const agentAnswer = z.object({ data: z.object({ id: z.string() }) });
const jobAnswer = z.object({ data: z.object({ attributes: phaseJob }) });
const identityTokenAnswer = z.object({ data: z.object({ attributes: z.object({ token: z.string() }) }) });
const appendAnswer = z.object({ offset: z.number(), truncated: z.boolean() });
const stateVersionAnswer = z.object({
  data: z.object({ attributes: z.object({ 'hosted-state-upload-url': z.string().nullish() }) }),
});

/** A phase of a run that this executor has claimed. */
export type ClaimedPhase = {
  readonly run: string;
  readonly phase: Phase;
  readonly fence: number;
  /** The run can never be applied. */
  readonly isPlanOnly: boolean;
};

/** The result of a policy, as the server records it. */
export type PolicyReport = {
  readonly policy: string;
  readonly 'tool-version': string;
  readonly status: 'passed' | 'failed' | 'errored';
  readonly message: string;
  readonly printed: string;
};

/** The end of a phase, as the server records it. */
export type PhaseReport = {
  readonly status: 'planned' | 'applied' | 'errored' | 'canceled';
  readonly message?: string;
  readonly 'has-changes'?: boolean;
  readonly 'generated-configuration'?: boolean;
  readonly 'resource-additions'?: number;
  readonly 'resource-changes'?: number;
  readonly 'resource-destructions'?: number;
  readonly 'resource-imports'?: number;
  readonly 'resources-drifted'?: number;
  readonly 'resources-undrifted'?: number;
  readonly 'checks-passed'?: number;
  readonly 'checks-failed'?: number;
  readonly 'checks-errored'?: number;
  readonly 'checks-unknown'?: number;
  readonly 'policy-results'?: readonly PolicyReport[];
};

/** What people see of an executor. */
type ExecutorDescription = {
  readonly name: string;
  readonly version: string;
  /** Phases at a time. */
  readonly capacity: number;
  readonly phases: readonly Phase[];
};

export type StateFile = {
  readonly content: Blob;
  readonly serial: number;
  readonly lineage: string;
  readonly md5: string;
};

const ignoreAnswer = z.unknown();

/** The requests of an executor, with the token of its pool. */
export class ExecutorApi {
  constructor(
    readonly connection: ServerConnection,
    private readonly token: string,
  ) {}

  /** Resolves to the id of the new agent. */
  async register(description: ExecutorDescription, signal: AbortSignal): Promise<string> {
    const attributes = { ...description, 'protocol-version': PROTOCOL_VERSION };
    const { data } = await this.post('/api/v2/agents', { type: 'agents', attributes }, agentAnswer, signal);
    return data.id;
  }

  async ping(agent: string, status: 'idle' | 'busy' | 'exited', signal: AbortSignal): Promise<void> {
    const resource = { type: 'agents', attributes: { status } };
    await this.post(`/api/v2/agents/${agent}/actions/ping`, resource, ignoreAnswer, signal);
  }

  /** Waits for a run. Resolves to null if there is none. */
  async claim(
    agent: string,
    phases: readonly Phase[],
    waitSeconds: number,
    signal: AbortSignal,
  ): Promise<ClaimedPhase | null> {
    const resource = { type: 'agents', attributes: { phases, 'wait-seconds': waitSeconds } };
    const path = `/api/v2/agents/${agent}/actions/claim`;
    const { data, included = [] } = await this.post(path, resource, claimAnswer, signal, waitSeconds);
    if (data === null) return null;
    const run = included.find(({ type }) => type === 'runs');
    const { phase, fence } = data.attributes;
    return { run: data.id, phase, fence, isPlanOnly: run?.attributes['plan-only'] ?? false };
  }

  /** Renews the lease, and waits. Resolves to whether the run is canceled; to null if the lease has ended. */
  async renew(
    { run, fence }: ClaimedPhase,
    waitSeconds: number,
    signal: AbortSignal,
  ): Promise<{ readonly isCanceled: boolean } | null> {
    const resource = { type: 'run-leases', attributes: { fence, 'wait-seconds': waitSeconds } };
    try {
      const path = `/api/v2/runs/${run}/actions/renew-lease`;
      const { data } = await this.post(path, resource, leaseAnswer, signal, waitSeconds);
      return data && { isCanceled: data.attributes['canceled-at'] !== null };
    } catch (error) {
      // 404 and 401: the run, the pool or the token was deleted.
      if (error instanceof RefusedRequestError && [401, 404, 409, 410].includes(error.status)) return null;
      throw error;
    }
  }

  async readJob({ run, fence }: ClaimedPhase, nonce: string, signal: AbortSignal): Promise<PhaseJob> {
    const resource = { type: 'run-jobs', attributes: { fence, nonce } };
    const { data } = await this.post(`/api/v2/runs/${run}/job`, resource, jobAnswer, signal);
    return data.attributes;
  }

  /** Resolves to a token with which the phase authenticates at a cloud. */
  async issueIdentityToken({ run, fence }: ClaimedPhase, audience: string, signal: AbortSignal): Promise<string> {
    const resource = { type: 'run-identity-tokens', attributes: { fence, audience } };
    const path = `/api/v2/runs/${run}/identity-tokens`;
    const { data } = await this.post(path, resource, identityTokenAnswer, signal);
    return data.attributes.token;
  }

  async report({ run, fence }: ClaimedPhase, report: PhaseReport, signal: AbortSignal): Promise<void> {
    const { message, ...attributes } = report;
    const shortened = message === undefined ? {} : { message: message.slice(0, MAX_MESSAGE_CHARACTERS) };
    const resource = { type: 'run-progress', attributes: { ...attributes, ...shortened, fence } };
    await this.post(`/api/v2/runs/${run}/progress`, resource, ignoreAnswer, signal);
  }

  /** Appends to the log of the phase. Resolves to the next offset. */
  async appendLog(
    claimed: ClaimedPhase,
    offset: number,
    output: Buffer<ArrayBuffer>,
    signal: AbortSignal,
  ): Promise<{ readonly offset: number; readonly truncated: boolean }> {
    const path = `${toPhasePath(claimed)}/log?offset=${offset}&fence=${claimed.fence}`;
    return appendAnswer.parse(JSON.parse(await this.connection.put(path, this.token, output, { signal })));
  }

  /** Uploads a document of the plan: compressed JSON. */
  async uploadDocument(
    claimed: ClaimedPhase,
    name: 'json-schema' | 'json-output',
    content: Blob,
    signal: AbortSignal,
  ): Promise<void> {
    const path = `${toPhasePath(claimed)}/${name}?fence=${claimed.fence}`;
    await this.connection.put(path, this.token, content, { signal, contentType: 'application/json' });
  }

  async uploadPlanFile(claimed: ClaimedPhase, archive: Blob, signal: AbortSignal): Promise<void> {
    const path = `${toPhasePath(claimed)}/plan-file?fence=${claimed.fence}`;
    await this.connection.put(path, this.token, archive, { signal });
  }

  /** Stores a state that the workspace did not accept. */
  async uploadErroredState(claimed: ClaimedPhase, state: Blob, signal: AbortSignal): Promise<void> {
    const path = `${toPhasePath(claimed)}/errored-state?fence=${claimed.fence}`;
    await this.connection.put(path, this.token, state, { signal });
  }

  /** Adds a state version with the token of the run. A version with the same content is accepted again. */
  async uploadState(workspace: string, runToken: string, state: StateFile, signal: AbortSignal): Promise<void> {
    const { content, serial, lineage, md5 } = state;
    const resource = { type: 'state-versions', attributes: { serial, lineage, md5 } };
    const { data } = await this.connection.post(
      `/api/v2/workspaces/${workspace}/state-versions`,
      runToken,
      resource,
      stateVersionAnswer,
      { signal },
    );
    const url = data.attributes['hosted-state-upload-url'];
    // There is no address if the server has this content already.
    if (url) await this.connection.put(url, null, content, { signal });
  }

  /** Downloads a file with the token of the run. A signed URL needs none. */
  download(url: string, runToken: string, path: string, signal: AbortSignal): Promise<void> {
    return this.connection.download(url, runToken, path, signal);
  }

  /** Downloads the plan file of the run. Code of the run cannot, because it has no token of the pool. */
  downloadPlanFile(url: string, path: string, signal: AbortSignal): Promise<void> {
    return this.connection.download(url, this.token, path, signal);
  }

  private post<S extends z.ZodType>(
    path: string,
    resource: { readonly type: string; readonly attributes: object },
    schema: S,
    signal: AbortSignal,
    waitSeconds = 0,
  ): Promise<z.output<S>> {
    return this.connection.post(path, this.token, resource, schema, { signal, waitSeconds });
  }
}

const toPhasePath = ({ run, phase }: ClaimedPhase): string => {
  const id = run.replace(/^run-/, '');
  return phase === 'plan' ? `/api/v2/plans/plan-${id}` : `/api/v2/applies/apply-${id}`;
};
