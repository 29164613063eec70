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
  /** Returns the id of a resource. */
  readonly makeId?: (name: string) => string;
};

/** Returns a state as terraform writes it, with these outputs and a resource for each of the names. */
export const stateFile = ({
  serial = 1,
  lineage = randomUUID(),
  outputs = {},
  names = ['it'],
  makeId = () => randomUUID(),
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
        instances: [{ schema_version: 0, attributes: { id: makeId(name) }, sensitive_attributes: [] }],
      })),
      check_results: null,
    }),
  );
  return { serial, lineage, bytes, md5: createHash('md5').update(bytes).digest('hex') };
};

/** Returns the body that creates a state version. With `inline` it contains the state. */
export const newStateVersion = (
  { serial, lineage, bytes, md5 }: TestStateFile,
  { inline }: { inline: boolean },
): object =>
  resource('state-versions', { serial, lineage, md5, ...(inline ? { state: bytes.toString('base64') } : {}) });

/** Returns the path of a link. Links use the public URL, where the test server does not listen, or are relative. */
export const pathOf = (link: string): string => new URL(link, 'http://localhost').pathname;
