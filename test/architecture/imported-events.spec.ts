import { describe, expect, it } from '@jest/globals';
import type { AnyEventKind } from '#platform/kernel';
import type { ImportedEvent } from '#storage/event-store';
import { ExportInspector, type OrganizationManifest } from '#operations/organization-moves';
import { eventRegistry } from '../../apps/modules.js';
import { context } from '../../libs/storage/event-store/spec.js';
import { fullSample } from '../docs/catalogue.js';
import { isTree } from './principals.js';

const OWN = '1111111111111111';
const FOREIGN = '2222222222222222';
const TIME = '2026-01-01T00:00:00.000Z';
const UUID = '0190b3a0-0000-7000-8000-000000000000';

type Leaf = { readonly at: readonly string[]; readonly path: string };

/** Returns the texts of a sample, with paths in which `[]` stands for each element of a list. */
const listLeaves = (value: unknown, at: readonly string[] = [], path = ''): readonly Leaf[] => {
  if (typeof value === 'string') return [{ at, path }];
  if (Array.isArray(value)) return value.flatMap((one, n) => listLeaves(one, [...at, String(n)], `${path}[]`));
  if (!isTree(value)) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    listLeaves(member, [...at, key], path === '' ? key : `${path}.${key}`),
  );
};

const setText = (tree: unknown, at: readonly PropertyKey[], text: string): unknown => {
  const [key, ...rest] = at;
  if (key === undefined) return text;
  const copy: unknown = Array.isArray(tree) ? [...(tree as unknown[])] : { ...(tree as object) };
  Object.assign(copy as object, { [key]: setText((tree as Record<PropertyKey, unknown>)[key], rest, text) });
  return copy;
};

type Issue = { readonly path: readonly PropertyKey[]; readonly format?: string };
type SafeSchema = { safeParse(data: unknown): { success: boolean; error?: { issues: readonly Issue[] } } };

/** Returns a valid sample of the event's data. References name resources of the export. */
const makeSample = (type: string, kind: AnyEventKind): unknown => {
  const { refersTo = {}, creates = {} } = kind.ids;
  const prefixes = new Map([
    ...Object.entries(refersTo),
    ...Object.entries(creates).map(([p, one]) => [p, [one]] as const),
  ]);
  let sample: unknown = listLeaves(fullSample(type, kind)).reduce(
    (tree, { at, path }) => {
      const prefix = prefixes.get(path)?.[0];
      return prefix === undefined ? tree : setText(tree, at, `${prefix}-${OWN}`);
    },
    fullSample(type, kind),
  );
  const { error } = (kind.schema as unknown as SafeSchema).safeParse(sample);
  for (const { path, format } of error?.issues ?? [])
    if (format !== undefined) sample = setText(sample, path, format === 'uuid' ? UUID : TIME);
  // A sensitive variable has no value.
  const { success } = (kind.schema as unknown as SafeSchema).safeParse(sample);
  return success ? sample : withoutSecrets(sample);
};

const withoutSecrets = (sample: unknown): unknown =>
  JSON.parse(JSON.stringify(sample).replaceAll('"sensitive":true', '"sensitive":false'));

const ORGANIZATION = { id: `org-${OWN}`, name: 'acme' };

const MANIFEST = {
  snapshot: { organization: ORGANIZATION, madeBy: '1.2.3', events: 1 },
  people: { accounts: [{ id: `user-${OWN}`, username: 'ada', email: null }], forgotten: [] },
} as unknown as OrganizationManifest;

const streamOf = (type: string): string => {
  const kind = eventRegistry[type]?.stream ?? '';
  if (['reads', 'facts'].includes(kind)) return `${kind}/${ORGANIZATION.id}/x`;
  return kind === 'workload-tokens' ? `workload-tokens/wid-${OWN}` : `${kind}-${OWN}`;
};

const makeEvent = (type: string, data: unknown, change: Partial<ImportedEvent> = {}): ImportedEvent => ({
  id: UUID,
  type,
  stream: streamOf(type),
  version: 1,
  schemaVersion: eventRegistry[type]?.schemaVersion ?? 1,
  organization: ORGANIZATION.id,
  time: TIME,
  data: data as ImportedEvent['data'],
  context,
  ...change,
});

/** The events before the one that is tested. They create the organization and a state version. */
const EARLIER = ['OrganizationCreated', 'StateVersionCreated'];

const createInspector = (): ExportInspector => {
  const inspector = new ExportInspector(eventRegistry, MANIFEST);
  for (const type of EARLIER) inspector.inspect(makeEvent(type, makeSample(type, eventRegistry[type] as AnyEventKind)));
  return inspector;
};

/** Returns the next version of a stream after the earlier events. */
const nextVersion = (event: ImportedEvent): number =>
  EARLIER.some((type) => type !== event.type && streamOf(type) === event.stream) ? 2 : 1;

/** Returns why the event is refused, by itself or because of an id that the site knows; null if it is not. */
const findRefusal = (event: ImportedEvent): string | null => {
  try {
    const inspector = EARLIER.includes(event.type) ? new ExportInspector(eventRegistry, MANIFEST) : createInspector();
    inspector.inspect({ ...event, version: nextVersion(event) });
    const foreignIds = [...inspector.listForeignIds().keys()];
    if (foreignIds.some((id) => id.includes(FOREIGN))) return 'names a resource of the site';
    const missing = inspector.listMissing().filter((id) => id.includes(FOREIGN));
    return missing.length > 0 ? 'refers to what is not in the export' : null;
  } catch (error) {
    return (error as Error).message;
  }
};

const [imported, refused] = [false, true].map((isRefused) =>
  Object.entries(eventRegistry).filter(([, { notImported }]) => (notImported !== undefined) === isRefused),
) as [[string, AnyEventKind][], [string, AnyEventKind][]];

/** Names of variables, and keys and values of tags. */
const NAMES = /^(?:Variable|\w*Tag|WorkspaceCreated tags)\w*(?:\[\])?[ .](?:.+\.)?(?:key|from|to)(?:\[\]\.key)?$/;

/** Fields with the id of the caller. Only the audit trail shows them, and an id of the site is refused there too. */
const CALLERS = /^(?:createdBy|holder|confirmedBy|author|overriddenBy|reportedBy)\.id$/;

const TEXTS: Readonly<Record<string, string>> = {
  'AuditFactReported resource.id': 'another service owns the resource',
  'ConfigurationVersionDownloaded linkOf': 'a caller',
  'OauthClientCreated key': 'the client id of an OAuth application of the Git host',
  'OauthClientUpdated changes.key': 'the client id of an OAuth application of the Git host',
  ...Object.fromEntries(
    ['Created', 'Updated', 'VersionCreated', 'VersionUploaded', 'VersionDeleted', 'Deleted'].map((name) => [
      `RegistryModule${name} provider`,
      'a name, such as aws',
    ]),
  ),
};

describe('an event type of the log', () => {
  it('declares every field with the name of a reference', () => {
    const listed = ([, { ids }]: readonly [string, AnyEventKind]): readonly string[] =>
      [ids.refersTo, ids.creates].flatMap((fields) => Object.keys(fields ?? {}));
    const toName = (path: string): string => (path.split('.').at(-1) ?? '').replace('[]', '');
    const names = new Set(imported.flatMap(listed).map(toName));
    const undeclared = imported.flatMap((entry) =>
      listLeaves(fullSample(...entry))
        .map(({ path }) => path)
        .filter((path) => names.has(toName(path)) && !listed(entry).includes(path) && !CALLERS.test(path))
        .map((path) => `${entry[0]} ${path}`),
    );
    expect(undeclared.filter((one) => !(one in TEXTS) && !NAMES.test(one))).toEqual([]);
  });

  it('declares only fields that it has', () => {
    for (const [type, kind] of imported) {
      const { refersTo = {}, creates = {} } = kind.ids;
      const paths = listLeaves(fullSample(type, kind)).map(({ path }) => path);
      expect([type, paths]).toEqual([
        type,
        expect.arrayContaining([...Object.keys(refersTo), ...Object.keys(creates)]),
      ]);
    }
  });
});

describe('an export with one event', () => {
  it.each(imported)('accepts %s with ids of the export', (type, kind) => {
    expect(findRefusal(makeEvent(type, makeSample(type, kind)))).toBeNull();
  });

  it.each(imported)('refuses %s with an id of another organization in any field and schema version', (type, kind) => {
    const sample = makeSample(type, kind);
    for (const { at, path } of listLeaves(sample)) {
      const prefixes = kind.ids.refersTo?.[path] ?? ['ws', 'user', 'team'];
      for (const prefix of prefixes) {
        const data = setText(sample, at, `${prefix}-${FOREIGN}`);
        if (kind.ids.creates?.[path] === prefix) continue;
        for (let schemaVersion = 1; schemaVersion <= kind.schemaVersion; schemaVersion += 1)
          expect([path, findRefusal(makeEvent(type, data, { schemaVersion }))]).toEqual([path, expect.any(String)]);
      }
    }
  });

  it.each(imported)('refuses %s of another organization, in its stream, with a gap or more data', (type, kind) => {
    const sample = makeSample(type, kind);
    const refuse = (change: Partial<ImportedEvent>): void =>
      expect([change, findRefusal(makeEvent(type, sample, change))]).toEqual([change, expect.any(String)]);
    refuse({ organization: `org-${FOREIGN}` });
    for (const stream of [
      `user-${OWN}`,
      `reads/org-${FOREIGN}/x`,
      `facts/org-${FOREIGN}/x`,
      `org-${FOREIGN}`,
      `atrail-${FOREIGN}`,
      `sv-${FOREIGN}`,
      'x',
    ])
      refuse({ stream });
    if (kind.stream === 'workload-tokens') refuse({ stream: `workload-tokens/wid-${FOREIGN}` });
    refuse({ schemaVersion: kind.schemaVersion + 1 });
    refuse({ data: { ...(sample as object), siteAdmin: true } as unknown as ImportedEvent['data'] });
    expect(() => createInspector().inspect(makeEvent(type, sample, { version: 3 }))).toThrow(
      /^the export is refused: /,
    );
  });

  it.each(refused)('refuses %s', (type, kind) => {
    const data = fullSample(type, kind);
    for (const stream of [`org-${OWN}`, `user-${OWN}`])
      expect(findRefusal(makeEvent(type, data, { stream }))).toContain(kind.notImported);
  });

  it.each(['constructor', '__proto__', 'NoSuchEvent'])('refuses the unknown type %s', (type) => {
    expect(findRefusal(makeEvent(type, {}))).toMatch(/this version does not support its event /);
  });
});
