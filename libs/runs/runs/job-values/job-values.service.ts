import { isDeepStrictEqual, promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import { Envelope, type EncryptionKeys } from '#platform/encryption';
import { notFound, sql, unprocessable, type Refusal, type Sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import type { Vault } from '#storage/vault';
import { FairQueue } from '#workspaces/state';
import { selectCandidatesForRun, type RunVariableCandidates } from '#workspaces/variables';
import { MAX_JOB_VALUE_BYTES, resolveJobValues, type JobValues } from './job-values.js';

/** Part of the key derivation. */
export const JOB_VALUES_PURPOSE = 'run job values';

type JobValuesOptions = {
  readonly database: Database;
  readonly encryptionKeys: EncryptionKeys;
  readonly vault: Vault;
};

/**
 * Compression uses the threads that also read files and hash passwords. Requests wait, and those of one organization do not delay
 * others. The queue needs no limit, because the requests in flight have one.
 */
const COMPRESSIONS = {
  concurrency: 2,
  waiting: Infinity,
  waitingOfOwner: Infinity,
  waitingBytes: Infinity,
  items: 'values',
};

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** The run whose values are stored. */
type ValueOwner = { readonly id: string; readonly workspace: string; readonly organization: string };

/** Returns an expression for the size in MiB, rounded down, of the stored values of an organization's runs. Postgres reads no value for it. */
export const selectStoredValuesMib = (organization: Sql): Sql => sql`(
  select coalesce(sum(octet_length(v.content)), 0) / 1048576 from runs.job_values v where v.organization = ${organization})`;

/** Returns an expression for the variables that may apply to runs of a workspace, for `JobValuesStore.resolve`. */
export const selectJobValueCandidates = (workspace: Sql): Sql => selectCandidatesForRun(workspace, MAX_JOB_VALUE_BYTES);

const tooManyBytes = (bytes: number): Refusal =>
  unprocessable(
    `The variables of the workspace and of the variable sets that apply to it have ${bytes} bytes in all: ` +
      `a run can use at most ${MAX_JOB_VALUE_BYTES / 1_024 / 1_024} MiB`,
  );

/**
 * The variables of runs with all values. They are read when a run is created, and stored until it ends, so that later changes
 * concern only later runs.
 */
export class JobValuesStore {
  private readonly envelope: Envelope;
  private readonly compressions = new FairQueue(COMPRESSIONS);

  constructor(private readonly options: JobValuesOptions) {
    this.envelope = new Envelope(options.encryptionKeys, JOB_VALUES_PURPOSE);
  }

  /** Returns the value of each variable, decrypted. Refuses more values than a run can use. */
  resolve(
    { bytes, candidates }: RunVariableCandidates,
    runVariables: Parameters<typeof resolveJobValues>[1],
  ): JobValues {
    if (candidates === null) throw tooManyBytes(bytes);
    const { vault } = this.options;
    const readable = candidates.map(({ id, value, encrypted, ...rest }) => ({
      ...rest,
      readValue: () => (encrypted === null ? (value ?? '') : vault.decrypt(id, encrypted)),
    }));
    return resolveJobValues(readable, runVariables);
  }

  /** Returns the values that are stored for a run. Throws not-found if the run has ended meanwhile. */
  async read(run: string): Promise<JobValues> {
    const row = await this.options.database.row<{ readonly content: Buffer }>(
      sql`select content from runs.job_values where run = ${run}`,
    );
    if (!row) throw notFound();
    const content = await decompress(this.envelope.open(run, row.content));
    return JSON.parse(content.toString()) as JobValues;
  }

  /** Resolves to a statement that stores the values. */
  async store(owner: ValueOwner, values: JobValues): Promise<Sql> {
    return this.insert(owner, await this.encrypt(owner, values));
  }

  /**
   * Returns a function that does the same for a new run in each attempt to create it. An attempt after a conflict compresses the
   * values again only if the variables have changed meanwhile.
   */
  storeForNewRun(
    id: string,
    runVariables: Parameters<typeof resolveJobValues>[1],
  ): (owner: Omit<ValueOwner, 'id'>, candidates: RunVariableCandidates) => Promise<Sql> {
    let last: { readonly candidates: RunVariableCandidates; readonly content: Buffer } | null = null;
    return async (owner, candidates) => {
      const present = last !== null && isDeepStrictEqual(last.candidates, candidates) ? last : null;
      const stored = present ?? {
        candidates,
        content: await this.encrypt({ id, ...owner }, this.resolve(candidates, runVariables)),
      };
      last = stored;
      return this.insert({ id, ...owner }, stored.content);
    };
  }

  /** Compresses up to 16 MiB beside the event loop. */
  private async encrypt({ id, organization }: ValueOwner, values: JobValues): Promise<Buffer> {
    const content = await this.compressions.run(organization, 0, () => compress(Buffer.from(JSON.stringify(values))));
    return this.envelope.encrypt(id, content);
  }

  private insert({ id, workspace, organization }: ValueOwner, content: Buffer): Sql {
    return sql`insert into runs.job_values (run, workspace, organization, content)
               values (${id}, ${workspace}, ${organization}, ${content})
               on conflict (run) do update set content = excluded.content`;
  }
}
