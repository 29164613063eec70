import type { TrailEntry } from '../writing/trail-entry.js';

/** An entry as readers get it. Details of the client are absent if the operator hides them. */
export type ShownEntry = Omit<TrailEntry, 'request'> & {
  readonly request: Pick<TrailEntry['request'], 'id'> & Partial<TrailEntry['request']>;
};

/** Returns a text of the entry's metadata, or null if it has none of this name. */
export const findMetaText = ({ resource: { meta } }: ShownEntry, name: string): string | null => {
  const value = meta?.[name];
  return typeof value === 'string' && value !== '' ? value : null;
};

/** Returns the kind of an entry, such as `workspace.lock`. */
export const formatEventCode = ({ resource: { type, action } }: ShownEntry): string => `${type}.${action}`;

const FAILED_SIGN_INS: ReadonlySet<string> = new Set(['sign_in.refuse', 'sign_in_methods.sign_in_failed']);

/** Entries record what was done. Only those of refused sign-ins record what was not. */
export const isFailedSignIn = (entry: ShownEntry): boolean => FAILED_SIGN_INS.has(formatEventCode(entry));
