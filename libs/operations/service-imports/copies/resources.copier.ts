import type { Clock, ImportOrigin } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import type { ImportReport } from '../report/import-report.js';
import type { SourceReader } from '../source/source.reader.js';
import { ImportSourceError } from '../source/source-errors.js';
import { getText, type ForeignResource } from '../source/source-documents.js';
import type { ImportTarget, NewResource } from '../target/target.requests.js';
import type { SuppliedValues } from './supplied-values.js';

/** A resource of the source, and what it is here. `id`: null if a dry run would create it. */
type CopiedResource = { readonly id: string | null; readonly name: string; readonly mayChange: boolean };

/** What every step of an import uses. */
export type ImportContext = {
  readonly source: SourceReader;
  readonly target: ImportTarget;
  readonly database: Database;
  readonly clock: Clock;
  readonly report: ImportReport;
  readonly values: SuppliedValues;
  /** The organization at the source, and the one that gets the resources. */
  readonly organization: string;
  readonly into: string;
  /** The address of the source with its organization, as events name it. */
  readonly from: string;
  readonly mode: 'dry run' | 'apply' | 'verify' | 'finish' | 'undo';
  /** The address of this site, such as `https://cadastre.example.com`. */
  readonly publicUrl: string;
  /** How many state versions of each workspace to copy, the newest ones; null for all. */
  readonly newestStates: number | null;
  readonly signal: AbortSignal;
  /** The ids here of what this and earlier imports have created, by id at the source. */
  readonly copies: Map<string, string>;
  /** What was copied, by id at the source. */
  readonly projects: Map<string, CopiedResource>;
  readonly teams: Map<string, CopiedResource>;
  readonly workspaces: Map<string, CopiedResource>;
  /** Counts work that a dry run leaves out. */
  readonly expected: { states: number };
  readonly progress: (kind: string, done: number, total: number | null) => void;
};

const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z$/;

/** Returns where a resource comes from. A time in the future would hide all later changes from the history. */
export const describeOrigin = ({ from, clock }: ImportContext, source: ForeignResource): ImportOrigin => {
  const created = getText(source, 'created-at');
  const time = created !== null && TIMESTAMP.test(created) ? new Date(created) : null;
  const isPast = time !== null && time.getTime() > 0 && time <= clock.now();
  return { from, id: source.id, time: isPast ? time.toISOString() : null };
};

/** Copies one item. If the source does not return a part of it, the report says so, and the import continues. */
export const continueAfter = async (
  { report }: ImportContext,
  { kind, name }: { readonly kind: string; readonly name: string },
  copy: () => Promise<void>,
): Promise<void> => {
  try {
    await copy();
  } catch (error) {
    if (!(error instanceof ImportSourceError) || error.endsImport) throw error;
    report.add(kind, name, 'failed', error.message);
  }
};

type ResourceCopy = {
  readonly kind: string;
  readonly name: string;
  readonly source: ForeignResource;
  readonly path: string;
  readonly resource: NewResource;
  /** The copy here, if there is one. */
  readonly present: ForeignResource | undefined;
  /** Whether the resource may be created. Without it, its absence is a difference. */
  readonly mayChange: boolean;
  /** Attributes that no document shows, such as secrets. */
  readonly hidden?: readonly string[];
  /** Attributes without which the resource is still a copy. They are left out if the site refuses them. */
  readonly optional?: readonly string[];
};

const isBlank = (value: unknown): boolean =>
  value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);

const toComparable = (value: unknown): string =>
  JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );

/** Returns the names of attributes that have other values here. A blank text is no value. */
export const listDifferences = (
  values: Readonly<Record<string, unknown>>,
  present: Readonly<Record<string, unknown>>,
  hidden: readonly string[] = [],
): readonly string[] =>
  Object.entries(values).flatMap(([name, value]) => {
    const other = present[name];
    if (hidden.includes(name) || (isBlank(value) && isBlank(other))) return [];
    return toComparable(value) === toComparable(other) ? [] : [name];
  });

/**
 * Creates a resource, or compares it with the one that has its name. Returns its id, null if a dry run would create it,
 * or undefined if there is none.
 */
export const copyResource = async (context: ImportContext, copy: ResourceCopy): Promise<string | null | undefined> => {
  const { kind, name, source, path, resource, present, mayChange, hidden, optional = [] } = copy;
  const { report, mode, target, signal } = context;
  signal.throwIfAborted();
  if (present) {
    const differences = listDifferences(resource.attributes, present.attributes, hidden);
    if (differences.length === 0) report.add(kind, name, 'same');
    else report.add(kind, name, 'differs', differences.join(', '));
    return present.id;
  }
  if (context.copies.has(source.id)) {
    report.add(kind, name, 'kept', 'was imported, and deleted here: it stays deleted');
    return undefined;
  }
  if (!mayChange || mode === 'verify') {
    report.add(kind, name, 'differs', 'is missing here');
    return undefined;
  }
  if (mode === 'dry run') {
    report.add(kind, name, 'created');
    return null;
  }
  const outcome = await target.create(path, resource, { origin: describeOrigin(context, source), optional });
  if ('refused' in outcome) {
    report.add(kind, name, 'failed', outcome.refused);
    return undefined;
  }
  context.copies.set(source.id, outcome.id);
  const dropped = outcome.dropped.map((attribute) => `${attribute.path.join('/')} is left out: ${attribute.detail}`);
  report.add(kind, name, 'created', dropped.length > 0 ? dropped.join('; ') : null);
  return outcome.id;
};

/** Returns these attributes, as far as the resource has them. */
export const pickAttributes = (
  { attributes }: ForeignResource,
  names: readonly string[],
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(names.flatMap((name) => (attributes[name] === undefined ? [] : [[name, attributes[name]]])));

/** Returns the copy of a resource among those here, which are by id. It may have another name now. */
export const findCopyAmong = (
  { copies }: ImportContext,
  source: ForeignResource,
  present: ReadonlyMap<string, ForeignResource>,
): ForeignResource | undefined => {
  const id = copies.get(source.id);
  return id === undefined ? undefined : present.get(id);
};

export const indexById = (resources: readonly ForeignResource[]): ReadonlyMap<string, ForeignResource> =>
  new Map(resources.map((resource) => [resource.id, resource]));

/** Returns resources by the value of an attribute, in lower case. */
export const indexByAttribute = (
  resources: readonly ForeignResource[],
  name: string,
): ReadonlyMap<string, ForeignResource> =>
  new Map(resources.map((resource) => [(getText(resource, name) ?? '').toLowerCase(), resource]));

export const toOneRelationship = (type: string, id: string): object => ({ data: { type, id } });
