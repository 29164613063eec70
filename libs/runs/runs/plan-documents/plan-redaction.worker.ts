import { gunzipSync, gzipSync } from 'node:zlib';
import { parseExactly } from '#workspaces/state/rules';
import { buildRedactedPlan, requireJsonObject, UnusablePlanError } from './redacted-plan.js';

/** Bytes of a document after decompression. */
const MAX_DOCUMENT_BYTES = 64 * 1024 * 1024;

const GZIP = Buffer.from([0x1f, 0x8b]);

/** The documents that executors upload, as JSON or gzip of JSON. */
export type RedactionTask =
  | { readonly type: 'CheckSchemas'; readonly schemas: Uint8Array }
  | { readonly type: 'RedactPlan'; readonly plan: Uint8Array; readonly schemas: Uint8Array };

/** Documents to store, compressed, or the reason why the executor must correct its upload. */
export type RedactionOutcome =
  { readonly files: { readonly uploaded: Uint8Array; readonly redacted?: Uint8Array } } | { readonly refused: string };

const readText = (document: Uint8Array, name: string): string => {
  const bytes = Buffer.from(document.buffer, document.byteOffset, document.byteLength);
  try {
    const isCompressed = bytes.subarray(0, GZIP.length).equals(GZIP);
    const text = isCompressed ? gunzipSync(bytes, { maxOutputLength: MAX_DOCUMENT_BYTES }) : bytes;
    return text.toString('utf8');
  } catch {
    throw new UnusablePlanError(`${name} is not a gzip file of at most ${MAX_DOCUMENT_BYTES} bytes`);
  }
};

const parseDocument = (text: string, name: string): Readonly<Record<string, unknown>> => {
  try {
    return requireJsonObject(parseExactly(text), name);
  } catch (error) {
    throw error instanceof UnusablePlanError ? error : new UnusablePlanError(`${name} is not valid JSON`);
  }
};

const perform = (task: RedactionTask): { uploaded: Uint8Array; redacted?: Uint8Array } => {
  const schemasText = readText(task.schemas, 'json-schema');
  const schemas = parseDocument(schemasText, 'json-schema');
  if (task.type === 'CheckSchemas') return { uploaded: gzipSync(schemasText) };
  const planText = readText(task.plan, 'json-output');
  const redacted = buildRedactedPlan(parseDocument(planText, 'json-output'), schemas);
  return { uploaded: gzipSync(planText), redacted: gzipSync(JSON.stringify(redacted)) };
};

/** Checks and redacts uploaded documents. */
export const runRedactionTask = (task: RedactionTask): RedactionOutcome => {
  try {
    return { files: perform(task) };
  } catch (error) {
    if (error instanceof UnusablePlanError) return { refused: error.message };
    throw error;
  }
};
