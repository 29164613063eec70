import { describeAuditEvent, type AuditMapping, type EventKind, type RecordedEvent } from '#kernel';
import { factSchemas, formatRowName, CATALOGUE_ROWS } from '#facts';
import { buildEventSchemas } from '#message-log';
import { eventRegistry } from '../../apps/slices.js';

/** What a trail can tell: by which event, of which resource, and with what under `meta`; null where there is nothing. */
export type AuditedEventRow = {
  readonly type: string;
  readonly action: string;
  readonly event: string;
  /** Where the resource's id comes from: fields of the event's data, or its stream. */
  readonly ids: readonly string[];
  readonly meta: readonly string[] | null;
};

/** An event that no trail tells of, and why. */
export type UnauditedEventRow = { readonly event: string; readonly why: string };

type Schema = {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
};

/** How a sample is: with everything or as little as may be, with `true` or `false` in it. */
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

/** Data as a schema wants it. Its texts are their own names, so that what is made of them says where it comes from. */
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

/** Data of an event with everything in it that may be. */
export const fullSample = (event: string, kind: EventKind<never>): unknown =>
  sampleOf(buildEventSchemas({ [event]: kind })[event] as Schema, { full: true, flag: true }, '');

const STREAM = 'the stream';
const ORGANIZATION = 'the organization';

const tellings = (event: string, kind: EventKind<never>, row: AuditMapping<never>): AuditedEventRow[] => {
  const schema = buildEventSchemas({ [event]: kind })[event] as Schema;
  const told = FILLS.map((fill) => {
    const data = sampleOf(schema, fill, '') as never;
    const recorded = { type: event, data, stream: STREAM, organization: ORGANIZATION } as unknown as RecordedEvent;
    return {
      ...describeAuditEvent(row, data),
      id: row.id?.(data, recorded) ?? STREAM,
      meta: row.meta?.(data, recorded) ?? null,
    };
  });
  return [...Map.groupBy(told, ({ type, action }) => `${type} ${action}`).values()].map((same) => {
    const [{ type, action }] = same as [(typeof same)[number]];
    const meta = [...new Set(same.flatMap((one) => Object.keys(one.meta ?? {})))];
    return {
      type,
      action,
      event,
      ids: [...new Set(same.map(({ id }) => id))],
      meta: same.every((one) => one.meta === null) ? null : meta,
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
    };
  });

const kinds = Object.entries(eventRegistry);

/** Everything that a trail can tell, by the resource's type. */
export const auditedEvents: readonly AuditedEventRow[] = [
  ...kinds.flatMap(([event, kind]) =>
    'unaudited' in kind.audit || event === FACT ? [] : tellings(event, kind, kind.audit),
  ),
  ...facts(),
].toSorted((a, b) => (a.type === b.type ? 0 : a.type < b.type ? -1 : 1));

export const unauditedEvents: readonly UnauditedEventRow[] = kinds.flatMap(([event, { audit }]) =>
  'unaudited' in audit ? [{ event, why: audit.unaudited }] : [],
);
