import { describeAuditEvent, type AuditMapping, type AnyEventKind, type RecordedEvent } from '#platform/kernel';
import { factSchemas, formatRowName, CATALOGUE_ROWS } from '#activity/facts';
import { buildEventSchemas } from '#storage/message-log';
import { eventRegistry } from '../../apps/modules.js';

/** A kind of audit entry: its event, its resource and the fields of `meta`, or null. */
export type AuditedEventRow = {
  readonly type: string;
  readonly action: string;
  readonly event: string;
  /** Sources of the resource's id: fields of the event's data, or its stream. */
  readonly ids: readonly string[];
  readonly meta: readonly string[] | null;
  readonly trails: 'organization' | 'site' | 'both';
};

/** An event without an audit entry, and the reason. */
type UnauditedEventRow = { readonly event: string; readonly why: string };

type Schema = {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
};

/** Whether a sample has all optional values or none, and the value of its flags. */
type SampleFill = { readonly full: boolean; readonly flag: boolean };

const FILLS: readonly SampleFill[] = [
  { full: true, flag: false },
  { full: true, flag: true },
  { full: false, flag: false },
];

type Sampler = (schema: Schema, fill: SampleFill, name: string) => unknown;

const OF_TYPE: Readonly<Record<string, Sampler>> = {
  object: ({ properties = {} }, fill, name) => {
    const fields = Object.entries(properties).map(([key, field]): [string, unknown] => [
      key,
      sampleOf(field, fill, name === '' ? key : `${name}.${key}`),
    ]);
    return Object.fromEntries(fields);
  },
  array: ({ items = {} }, fill, name) => [sampleOf(items, fill, name)],
  boolean: (_, { flag }) => flag,
  integer: () => 1,
  number: () => 1,
  null: () => null,
  string: (_schema, _fill, name) => name,
};

/** Returns data that matches the schema. Each string is the name of its field, so that results show their origin. */
const sampleOf: Sampler = (schema, fill, name) => {
  const choices = schema.anyOf ?? [];
  const chosen = fill.full ? choices[0] : choices.at(-1);
  if (chosen) return sampleOf(chosen, fill, name);
  if ('const' in schema) return schema.const;
  if (schema.enum) return schema.enum[0];
  const types = [schema.type ?? 'string'].flat();
  const type = !fill.full && types.includes('null') ? 'null' : types[0];
  return OF_TYPE[type ?? 'string']?.(schema, fill, name);
};

/** Returns data of an event with all optional values. */
export const fullSample = (event: string, kind: AnyEventKind): unknown =>
  sampleOf(buildEventSchemas({ [event]: kind })[event] as Schema, { full: true, flag: true }, '');

const STREAM = 'the stream';
const ORGANIZATION = 'the organization';

/** Events that live streams of organizations contain can belong to an organization, also if the site has such resources too. */
const listTrails = (
  { site, organizations }: AuditMapping<never>,
  { live }: AnyEventKind,
): AuditedEventRow['trails'] => {
  if (!site) return 'organization';
  return site === 'always' || organizations || !('unsent' in live) ? 'both' : 'site';
};

const listEntries = (event: string, kind: AnyEventKind, row: AuditMapping<never>): AuditedEventRow[] => {
  const schema = buildEventSchemas({ [event]: kind })[event] as Schema;
  const entries = FILLS.map((fill) => {
    const data = sampleOf(schema, fill, '') as never;
    const recorded = { type: event, data, stream: STREAM, organization: ORGANIZATION } as unknown as RecordedEvent;
    return {
      ...describeAuditEvent(row, data),
      id: row.id?.(data, recorded) ?? STREAM,
      meta: row.meta?.(data, recorded) ?? null,
    };
  });
  return [...Map.groupBy(entries, ({ type, action }) => `${type} ${action}`).values()].map((same) => {
    const [{ type, action }] = same as [(typeof same)[number]];
    const meta = [...new Set(same.flatMap((one) => Object.keys(one.meta ?? {})))];
    return {
      type,
      action,
      event,
      ids: [...new Set(same.map(({ id }) => id))],
      meta: same.every((one) => one.meta === null) ? null : meta,
      trails: listTrails(row, kind),
    };
  });
};

const FACT = 'AuditFactReported';

const facts = (): AuditedEventRow[] =>
  CATALOGUE_ROWS.map((row) => {
    const schema = factSchemas[formatRowName(row)] as { properties: { resource: { properties: { meta: Schema } } } };
    const { meta } = schema.properties.resource.properties;
    const fields = meta.properties ?? meta.anyOf?.find(({ properties }) => properties)?.properties;
    return {
      type: row.type,
      action: row.action,
      event: FACT,
      ids: ['resource.id'],
      meta: fields ? Object.keys(fields) : null,
      trails: 'organization',
    };
  });

const kinds = Object.entries(eventRegistry);

/** All kinds of audit entries, by type of resource. */
export const auditedEvents: readonly AuditedEventRow[] = [
  ...kinds.flatMap(([event, kind]) =>
    'unaudited' in kind.audit || event === FACT ? [] : listEntries(event, kind, kind.audit),
  ),
  ...facts(),
].toSorted((a, b) => (a.type === b.type ? 0 : a.type < b.type ? -1 : 1));

export const unauditedEvents: readonly UnauditedEventRow[] = kinds.flatMap(([event, { audit }]) =>
  'unaudited' in audit ? [{ event, why: audit.unaudited }] : [],
);
