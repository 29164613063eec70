import { isSent, listSources, type EventRegistry, type IdSource, type SentRule } from '#platform/kernel';

/** The event types that become messages, and what the reader must select of their events. */
export type SentEvents = {
  readonly rules: ReadonlyMap<string, SentRule>;
  readonly types: readonly string[];
  /** The fields of each type of event that the reader selects. */
  readonly fieldsByType: Readonly<Record<string, readonly string[]>>;
  /** Types of events whose ids are in the first event of their stream. */
  readonly typesWithFirst: readonly string[];
  /** Types of events whose owner, a workspace or variable set, decides who may read the resource. */
  readonly typesWithOwner: readonly string[];
};

const listFields = (sources: readonly IdSource[]): string[] => [
  ...new Set(sources.flatMap((source) => (typeof source === 'object' && 'field' in source ? [source.field] : []))),
];

const needsFirst = (source: IdSource): boolean => typeof source === 'object' && 'first' in source;

export const listSentEvents = (registry: EventRegistry): SentEvents => {
  const rules = Object.entries(registry).flatMap(([type, { live }]) => (isSent(live) ? [[type, live] as const] : []));
  const listTypes = (matches: (rule: SentRule) => boolean): readonly string[] =>
    rules.flatMap(([type, rule]) => (matches(rule) ? [type] : []));
  return {
    rules: new Map(rules),
    types: rules.map(([type]) => type),
    fieldsByType: Object.fromEntries(rules.map(([type, rule]) => [type, listFields(listSources(rule))])),
    typesWithFirst: listTypes((rule) => listSources(rule).some(needsFirst)),
    typesWithOwner: listTypes(({ scope }) => scope.in === 'variable'),
  };
};
