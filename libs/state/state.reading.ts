import { createHash } from 'node:crypto';
import { Refused, unprocessable, type Problem, type RefusalKind } from '#kernel';
import type { OutputFact, StateFacts } from '#workspaces';
import { splitCreation } from './inline-state.js';
import { blocksFile, outputsFile, resourcesFile } from './state-extract.js';
import { parseStateFile, withSerial } from './state-file.js';

/** The facts of a state file, without values and without ids of its outputs. */
type NewFacts = Omit<StateFacts, 'outputs'> & { readonly outputs: readonly Omit<OutputFact, 'id'>[] };

/** The result of reading a state file: the facts for the log, and the three files that are stored beside the state. */
export type StateReading = {
  readonly facts: NewFacts;
  readonly outputs: Uint8Array<ArrayBuffer>;
  readonly resources: Uint8Array<ArrayBuffer>;
  readonly blocks: Uint8Array<ArrayBuffer>;
};

/** A refusal as it passes between threads: an error that is cloned loses its class. */
export type Refusal = {
  readonly kind: RefusalKind;
  readonly problems: readonly Problem[];
};

export type Outcome<T> = { readonly value: T } | { readonly refusal: Refusal };

/** A state that a client sent in the JSON body of a request. */
export type InlineState = {
  readonly bytes: Uint8Array;
  readonly md5: string;
  readonly reading: Outcome<StateReading>;
};

export type CreationReading = {
  /** See SplitCreation. */
  readonly document: string;
  readonly state: InlineState | null;
  readonly jsonState: Uint8Array | null;
};

/** The same state under another serial. */
export type Renumbered = Omit<InlineState, 'reading'> & { readonly reading: StateReading };

export const outcomeOf = <T>(work: () => T): Outcome<T> => {
  try {
    return { value: work() };
  } catch (error) {
    if (error instanceof Refused) return { refusal: { kind: error.kind, problems: error.problems } };
    throw error;
  }
};

export const valueOf = <T>(outcome: Outcome<T>): T => {
  if ('value' in outcome) return outcome.value;
  const { kind, problems } = outcome.refusal;
  throw new Refused(kind, problems);
};

/** The facts of a file become one event. The limit is far below that of an event, because the event is wrapped in envelopes. */
const FACTS_MAX_BYTES = 512 * 1024;

/** Each output gets an id. */
const ID_BYTES = 32;

const isTooLarge = (facts: NewFacts): boolean =>
  Buffer.byteLength(JSON.stringify(facts)) + facts.outputs.length * ID_BYTES > FACTS_MAX_BYTES;

/** Types of outputs are the one thing that may be left out: the CLI then reads the whole state. */
const bounded = (facts: NewFacts): NewFacts => {
  if (!isTooLarge(facts)) return facts;
  const brief = { ...facts, outputs: facts.outputs.map((output) => ({ ...output, detailedType: null })) };
  if (isTooLarge(brief)) throw unprocessable('The state file has too many outputs, modules and providers');
  return brief;
};

/** Throws `unprocessable` if the file is not a state. */
export const readState = (bytes: Uint8Array): StateReading => {
  const file = parseStateFile(bytes);
  const facts = bounded({
    size: bytes.length,
    terraformVersion: file.terraformVersion,
    resources: file.resources,
    providers: file.providers,
    modules: file.modules,
    outputs: file.outputs.map(({ name, sensitive, type, detailedType }) => ({ name, sensitive, type, detailedType })),
  });
  return { facts, outputs: outputsFile(file), resources: resourcesFile(file), blocks: blocksFile(file) };
};

const md5Of = (bytes: Uint8Array): string => createHash('md5').update(bytes).digest('hex');

/** Reads the body of a creation. Throws `bad-request` and `too-large`; what is wrong with the state comes with it. */
export const readCreation = (body: Uint8Array, limit: number): CreationReading => {
  const { document, state: bytes, jsonState } = splitCreation(body, limit);
  const state = bytes && { bytes, md5: md5Of(bytes), reading: outcomeOf(() => readState(bytes)) };
  return { document, state, jsonState };
};

/** Throws `conflict` where the serial cannot be changed. */
export const renumber = (bytes: Uint8Array, serial: number): Renumbered => {
  const changed = withSerial(bytes, serial);
  return { bytes: changed, md5: md5Of(changed), reading: readState(changed) };
};
