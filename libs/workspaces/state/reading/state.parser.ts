import { createHash } from 'node:crypto';
import { Refusal, unprocessable, type Problem, type RefusalKind } from '#platform/kernel';
import type { OutputSummary, StateSummary } from '#workspaces/workspaces';
import { splitCreateRequest } from './inline-state.js';
import { buildBlocksFile, buildOutputsFile, buildResourcesFile } from '../state-file/state-extract.js';
import { parseStateFile, replaceSerial } from '../state-file/state-file.js';

/** Summary of a state file without values, and without ids of its outputs. */
type NewStateSummary = Omit<StateSummary, 'outputs'> & { readonly outputs: readonly Omit<OutputSummary, 'id'>[] };

/** Result of reading a state file: a summary for the log, and three files to store beside the state. */
export type ParsedState = {
  readonly serial: number;
  readonly facts: NewStateSummary;
  readonly outputs: Uint8Array<ArrayBuffer>;
  readonly resources: Uint8Array<ArrayBuffer>;
  readonly blocks: Uint8Array<ArrayBuffer>;
};

/** A refusal in transit between threads, because cloning an error loses its class. */
type SerializedRefusal = {
  readonly kind: RefusalKind;
  readonly problems: readonly Problem[];
};

export type ReaderOutcome<T> = { readonly value: T } | { readonly refusal: SerializedRefusal };

type InlineState = {
  readonly bytes: Uint8Array;
  readonly md5: string;
  readonly reading: ReaderOutcome<ParsedState>;
};

export type ParsedCreateRequest = {
  readonly document: string;
  readonly state: InlineState | null;
  readonly jsonState: Uint8Array | null;
};

export type RenumberedState = Omit<InlineState, 'reading'> & { readonly reading: ParsedState };

export const captureOutcome = <T>(work: () => T): ReaderOutcome<T> => {
  try {
    return { value: work() };
  } catch (error) {
    if (error instanceof Refusal) return { refusal: { kind: error.kind, problems: error.problems } };
    throw error;
  }
};

export const unwrapOutcome = <T>(outcome: ReaderOutcome<T>): T => {
  if ('value' in outcome) return outcome.value;
  const { kind, problems } = outcome.refusal;
  throw new Refusal(kind, problems);
};

/**
 * Maximum size of the summary of a file, which becomes one event. It is far below that of an event, because the event
 * has envelopes.
 */
const FACTS_MAX_BYTES = 512 * 1024;

/** Bytes for the id of each output. */
const ID_BYTES = 32;

const isTooLarge = (facts: NewStateSummary): boolean =>
  Buffer.byteLength(JSON.stringify(facts)) + facts.outputs.length * ID_BYTES > FACTS_MAX_BYTES;

/**
 * Drops the types of outputs if the summary is too large. Nothing else can be dropped; the CLI then reads the complete
 * state.
 */
const dropLargeTypes = (facts: NewStateSummary): NewStateSummary => {
  if (!isTooLarge(facts)) return facts;
  const brief = { ...facts, outputs: facts.outputs.map((output) => ({ ...output, detailedType: null })) };
  if (isTooLarge(brief)) throw unprocessable('The state file has too many outputs, modules and providers');
  return brief;
};

/** Throws `unprocessable` if the file is not a state. */
export const parseState = (bytes: Uint8Array): ParsedState => {
  const file = parseStateFile(bytes);
  const facts = dropLargeTypes({
    format: file.format,
    lineage: file.lineage,
    size: bytes.length,
    terraformVersion: file.terraformVersion,
    resources: file.resources,
    providers: file.providers,
    modules: file.modules,
    outputs: file.outputs.map(({ name, sensitive, type, detailedType }) => ({ name, sensitive, type, detailedType })),
  });
  return {
    serial: file.serial,
    facts,
    outputs: buildOutputsFile(file),
    resources: buildResourcesFile(file),
    blocks: buildBlocksFile(file),
  };
};

const computeMd5 = (bytes: Uint8Array): string => createHash('md5').update(bytes).digest('hex');

/**
 * Parses the body of a creation. Throws `bad-request` and `too-large`. Problems of the state are part of the result.
 */
export const parseCreateRequest = (body: Uint8Array, limit: number): ParsedCreateRequest => {
  const { document, state: bytes, jsonState } = splitCreateRequest(body, limit);
  const state = bytes && { bytes, md5: computeMd5(bytes), reading: captureOutcome(() => parseState(bytes)) };
  return { document, state, jsonState };
};

/** Throws `conflict` if the serial cannot be changed. */
export const renumberState = (bytes: Uint8Array, serial: number): RenumberedState => {
  const changed = replaceSerial(bytes, serial);
  return { bytes: changed, md5: computeMd5(changed), reading: parseState(changed) };
};
