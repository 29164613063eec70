import { createHash, randomUUID } from 'node:crypto';
import { resource } from './seeds.js';

export type TestStateFile = {
  readonly serial: number;
  readonly lineage: string;
  readonly bytes: Buffer;
  readonly md5: string;
};

type Parts = {
  readonly serial?: number;
  readonly lineage?: string;
  readonly outputs?: object;
  readonly names?: readonly string[];
};

/** A state as terraform writes it: an output and a resource for each of the names. */
export const stateFile = ({
  serial = 1,
  lineage = randomUUID(),
  outputs = {},
  names = ['it'],
}: Parts = {}): TestStateFile => {
  const bytes = Buffer.from(
    JSON.stringify({
      version: 4,
      terraform_version: '1.11.4',
      serial,
      lineage,
      outputs,
      resources: names.map((name) => ({
        mode: 'managed',
        type: 'terraform_data',
        name,
        provider: 'provider["terraform.io/builtin/terraform"]',
        instances: [{ schema_version: 0, attributes: { id: randomUUID() }, sensitive_attributes: [] }],
      })),
      check_results: null,
    }),
  );
  return { serial, lineage, bytes, md5: createHash('md5').update(bytes).digest('hex') };
};

/** The body that announces it; `inline` sends the state along. */
export const newStateVersion = (
  { serial, lineage, bytes, md5 }: TestStateFile,
  { inline }: { inline: boolean },
): object =>
  resource('state-versions', { serial, lineage, md5, ...(inline ? { state: bytes.toString('base64') } : {}) });

/** Links are told under the public address, which is not where a test server listens. */
export const pathOf = (link: string): string => new URL(link).pathname;
