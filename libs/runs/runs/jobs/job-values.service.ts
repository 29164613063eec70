import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { Envelope, type EncryptionKeys } from '#platform/encryption';
import { sql, type Sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import type { Vault } from '#storage/vault';
import { listCandidatesForRun } from '#workspaces/variables';
import type { RunVariables } from '../runs/runs.variables.js';
import { resolveJobValues, type JobValues } from './run-job.js';
import type { RunForJob } from './run-jobs.queries.js';

/** Part of the key derivation. */
export const JOB_VALUES_PURPOSE = 'run job values';

type JobValuesOptions = {
  readonly database: Database;
  readonly encryptionKeys: EncryptionKeys;
  readonly vault: Vault;
  readonly variables: RunVariables;
};

/**
 * The variables of runs with all values. They are read when the plan starts, and stored until the run ends, because an apply
 * must not use other values than its plan.
 */
export class JobValuesStore {
  private readonly envelope: Envelope;

  constructor(private readonly options: JobValuesOptions) {
    this.envelope = new Envelope(options.encryptionKeys, JOB_VALUES_PURPOSE);
  }

  /** Returns the present values. */
  async read(run: RunForJob): Promise<JobValues> {
    const { database, vault, variables } = this.options;
    const candidates = (await listCandidatesForRun(database, run.workspace)).map(
      ({ id, value, encrypted, ...rest }) => ({
        ...rest,
        readValue: () => (encrypted === null ? (value ?? '') : vault.decrypt(id, encrypted)),
      }),
    );
    return resolveJobValues(candidates, variables.of(run));
  }

  /** Returns the values that were stored when the plan started; null if there are none. */
  async find(run: string): Promise<JobValues | null> {
    const row = await this.options.database.row<{ readonly content: Buffer }>(
      sql`select content from runs.job_values where run = ${run}`,
    );
    return row ? (JSON.parse(zstdDecompressSync(this.envelope.open(run, row.content)).toString()) as JobValues) : null;
  }

  store({ id, workspace, organization }: RunForJob, values: JobValues): Sql {
    const content = this.envelope.encrypt(id, zstdCompressSync(Buffer.from(JSON.stringify(values))));
    return sql`insert into runs.job_values (run, workspace, organization, content)
               values (${id}, ${workspace}, ${organization}, ${content})
               on conflict (run) do update set content = excluded.content`;
  }
}
