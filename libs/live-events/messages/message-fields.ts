import { isSent, listSources, type IdSource } from './message-rules.js';
import { MESSAGE_RULES } from './message-table.js';

const sentRules = Object.entries(MESSAGE_RULES).flatMap(([type, rule]) =>
  isSent(rule) ? [[type, rule] as const] : [],
);

const listFields = (sources: readonly IdSource[]): string[] => [
  ...new Set(sources.flatMap((source) => (typeof source === 'object' && 'field' in source ? [source.field] : []))),
];

const needsFirst = (source: IdSource): boolean => typeof source === 'object' && 'first' in source;

/** Types of events that become messages. */
export const SENT_TYPES: readonly string[] = sentRules.map(([type]) => type);

/** The fields of each type of event that the reader selects. */
export const FIELDS_BY_TYPE: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  sentRules.map(([type, rule]) => [type, listFields(listSources(rule))]),
);

/** Types of events whose ids are in the first event of their stream. */
export const TYPES_WITH_FIRST: readonly string[] = sentRules.flatMap(([type, rule]) =>
  listSources(rule).some(needsFirst) ? [type] : [],
);

/** Types of events whose owner, a workspace or variable set, decides who may read the resource. */
export const TYPES_WITH_OWNER: readonly string[] = sentRules.flatMap(([type, { scope }]) =>
  scope.in === 'variable' ? [type] : [],
);
