import { computeMd5 } from './md5.js';

/** A file that the person has chosen, with what the server compares with its content. */
export type ChosenState = {
  readonly file: File;
  readonly md5: string;
  readonly serial: number;
  readonly lineage: string | null;
  readonly terraformVersion: string | null;
};

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const parseState = (bytes: Uint8Array): Readonly<Record<string, unknown>> | null => {
  try {
    const state: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return isRecord(state) && typeof state['version'] === 'number' ? state : null;
  } catch {
    return null;
  }
};

const toText = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** Reads a state file. Throws an error for a file that is none. The server checks the content. */
export const readStateFile = async (file: File): Promise<ChosenState> => {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const state = parseState(bytes);
  if (!state) throw new Error(`${file.name} is not a state. Choose a file that terraform or OpenTofu has written.`);
  const { serial, lineage, terraform_version: version } = state;
  return {
    file,
    md5: computeMd5(bytes),
    // The oldest formats can have none.
    serial: typeof serial === 'number' ? serial : 0,
    lineage: toText(lineage),
    terraformVersion: toText(version),
  };
};
