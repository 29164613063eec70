import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ROOT } from '../support/folders.js';
import { findPreviousRelease, listFilesAt, readFileAt } from '../support/previous-release.js';
import {
  findBreakingApiChanges,
  findBreakingEventChanges,
  SchemaComparison,
  type ComparedApi,
  type ComparedSchema,
  type EventDescriptions,
  type Sender,
} from './breaking-changes.js';

const REFERENCE = 'docs/reference';

/** Pages for people that screens of the console have replaced. No program requests them. */
const REPLACED_PAGES = [
  'GET /account/tokens',
  'POST /account/tokens',
  'GET /app/settings/tokens',
  'POST /account/tokens/{id}/revocation',
];

/**
 * A log has had a URL since the server stores logs, and the versions of tools have archives since administrators add versions.
 * Before, these attributes were null, also for clients that read them.
 */
const ACCEPTED_CHANGES = [
  ...['url', 'sha', 'deprecated-reason', 'created-at'].map(
    (name) => `GET /api/v2/admin/terraform-versions 200.data[].attributes.${name} can now be string`,
  ),
  'GET /api/v2/admin/terraform-versions 200.data[].attributes.archs[] can now be object',
  // Administrators set limits for the time of plans and applies of an organization.
  ...[
    'plan-timeout',
    'apply-timeout',
    'terraform-build-worker-plan-timeout',
    'terraform-build-worker-apply-timeout',
  ].map((name) => `GET /api/v2/admin/organizations 200.data[].attributes.${name} can now be string`),
  // Configuration versions of commits show the commit, and documents include it.
  'POST /api/v2/workspaces/{id}/configuration-versions 201.data.relationships.ingress-attributes.links can now be absent',
  'GET /api/v2/runs/{id} 200.included[] has 8 alternatives instead of 6',
  'GET /api/v2/workspaces/{id}/runs 200.included[] has 8 alternatives instead of 6',
  'GET /api/v2/organizations/{organization}/workspaces 200.included[] has 16 alternatives instead of 14',
  'GET /api/v2/workspaces/{id} 200.included[] has 16 alternatives instead of 14',
  // Workspaces show the newest result of a health assessment, and documents include it.
  'GET /api/v2/organizations/{organization}/agent-pools 200.included[].attributes.last-assessment-result-at can now be string',
  // Providers with SAML have no address for back-channel logout.
  'GET /api/v2/admin/identity-providers 200.data[].attributes.back-channel-logout-url can now be null',
  // Cadastre records `oauth_client`, `oauth_token`, `policy`, `policy_evaluation`, `policy_set`, `registry_module`, `saml_configuration`,
  // `task`, `task_result`, `task_stage`, `vcs_repo` and `workspace_task` itself, so no service reports them.
  'POST /api/v2/organizations/{organization}/audit-facts request.resource has 6 alternatives instead of 22',
  'GET /api/v2/applies/{id} 200.data.attributes.log-read-url can now be string',
  'GET /api/v2/plans/{id} 200.data.attributes.log-read-url can now be string',
];

let release: string;

beforeAll(async () => {
  release = await findPreviousRelease();
});

const readCurrent = (name: string): Promise<string> => readFile(join(ROOT, REFERENCE, name), 'utf8');

const readEvents = async (
  read: (name: string) => Promise<string | null>,
  schemaFiles: readonly string[],
): Promise<EventDescriptions> => {
  const parse = async (name: string): Promise<unknown> => JSON.parse((await read(name)) ?? 'null');
  const schemas = await Promise.all(
    schemaFiles.map(async (file) => [file.replace('.json', ''), await parse(`schemas/${file}`)] as const),
  );
  const document = (await parse('asyncapi.json')) as EventDescriptions['document'];
  return { document, schemas: Object.fromEntries(schemas) as EventDescriptions['schemas'] };
};

const readPrevious = (name: string): Promise<string | null> => readFileAt(release, `${REFERENCE}/${name}`);

describe('the descriptions, compared with those of the previous release', () => {
  it('break no consumer of the topics', async () => {
    const current = await readEvents(readCurrent, await readdir(join(ROOT, REFERENCE, 'schemas')));
    const files = await listFilesAt(release, `${REFERENCE}/schemas`);
    expect(files.length).toBeGreaterThan(50);
    expect(findBreakingEventChanges(await readEvents(readPrevious, files), current)).toEqual([]);
  });

  it('break no client of the API', async () => {
    const current = JSON.parse(await readCurrent('openapi.json')) as ComparedApi;
    // 0.2.0 has no OpenAPI document. A client of this source then stands for one of the previous release.
    const previous = JSON.parse(
      (await readPrevious('openapi.json')) ?? (await readCurrent('openapi.json')),
    ) as ComparedApi;
    const accepted = [...REPLACED_PAGES.map((page) => `${page} is gone`), ...ACCEPTED_CHANGES];
    const isBreaking = (change: string): boolean => !accepted.includes(change);
    expect(findBreakingApiChanges(previous, current).filter(isBreaking)).toEqual([]);
  });
});

const compare = (sender: Sender, before: ComparedSchema, after: ComparedSchema): readonly string[] => {
  const comparison = new SchemaComparison(sender);
  comparison.compare('it', before, after);
  return comparison.changes;
};

const text: ComparedSchema = { type: 'string' };

describe('a change of a schema', () => {
  it.each<[string, ComparedSchema, ComparedSchema, readonly string[], readonly string[]]>([
    ['nothing', text, text, [], []],
    ['null is possible', text, { type: ['string', 'null'] }, ['it can now be null'], []],
    ['null is impossible', { type: ['string', 'null'] }, text, [], ['it can no longer be null']],
    ['a whole number for a number', { type: 'number' }, { type: 'integer' }, [], ['it can no longer be number']],
    ['a value is gone', { enum: ['a', 'b'] }, { enum: ['a'] }, [], ['it can no longer be "b"']],
    ['a lower limit', { maxLength: 9 }, { maxLength: 5 }, [], ['it has the limit maxLength 5 instead of 9']],
    ['a member is gone', { properties: { a: text } }, { properties: {} }, ['it.a is gone'], ['it.a is gone']],
    ['a member is new', { properties: {} }, { properties: { a: text } }, [], []],
    [
      'a required member is new',
      { properties: {} },
      { properties: { a: text }, required: ['a'] },
      [],
      ['it.a is now required'],
    ],
    [
      'a member is optional',
      { properties: { a: text }, required: ['a'] },
      { properties: { a: text } },
      ['it.a can now be absent'],
      [],
    ],
    [
      'of items',
      { items: text },
      { items: { type: 'number' } },
      ['it[] can now be number'],
      ['it[] can no longer be string'],
    ],
    [
      'another alternative',
      { anyOf: [text] },
      { anyOf: [text, { type: 'number' }] },
      ['it has 2 alternatives instead of 1'],
      [],
    ],
  ])('%s', (_name, before, after, forReaders, forWriters) => {
    expect([compare('server', before, after), compare('client', before, after)]).toEqual([forReaders, forWriters]);
  });
});

describe('a change of the API', () => {
  const operation = {
    operationId: 'getThing',
    parameters: [{ name: 'page', in: 'query' }],
    responses: { 200: { content: { json: { schema: { $ref: '#/components/schemas/Thing' } } } } },
  };
  const thing: ComparedSchema = { properties: { name: text, parent: { $ref: '#/components/schemas/Thing' } } };
  const build = (changed: object, schema = thing): ComparedApi => ({
    paths: { '/things': { get: { ...operation, ...changed } } },
    components: { schemas: { Thing: schema } },
  });

  it.each<[string, ComparedApi, readonly string[]]>([
    ['an operation is gone', { paths: {}, components: {} }, ['GET /things is gone']],
    ['another name', build({ operationId: 'showThing' }), ['GET /things is now named showThing, not getThing']],
    ['a parameter is gone', build({ parameters: [] }), ['GET /things: the parameter page is gone']],
    [
      'a parameter is required',
      build({ parameters: [{ name: 'page', in: 'query', required: true }] }),
      ['GET /things: the parameter page is now required'],
    ],
    ['a required body', build({ requestBody: { required: true, content: {} } }), ['GET /things now requires a body']],
    ['another status', build({ responses: { 201: {} } }), ['GET /things no longer answers 200']],
    ['another format', build({ responses: { 200: {} } }), ['GET /things 200 no longer has the media type json']],
    [
      'a recursive schema',
      build({}, { properties: {} }),
      ['GET /things 200.name is gone', 'GET /things 200.parent is gone'],
    ],
  ])('%s', (_name, after, changes) => {
    expect(findBreakingApiChanges(build({}), after)).toEqual(changes);
  });
});

describe('a change of the events', () => {
  const channels = { things: { address: 'cadastre.things', messages: { ThingCreated: {} } } };
  const before: EventDescriptions = {
    document: { channels },
    schemas: { ThingCreated: { $id: 'v1', properties: { name: text } } },
  };

  it.each<[string, EventDescriptions, readonly string[]]>([
    ['a channel is gone', { ...before, document: { channels: {} } }, ['the channel things is gone']],
    [
      'another topic',
      { ...before, document: { channels: { things: { ...channels.things, address: 'things' } } } },
      ['the channel things is now at things, not cadastre.things'],
    ],
    [
      'a message is gone',
      { ...before, document: { channels: { things: { ...channels.things, messages: {} } } } },
      ['ThingCreated is no longer in the channel things'],
    ],
    ['an event is gone', { ...before, schemas: {} }, ['the event ThingCreated is gone']],
    [
      'a member is gone',
      { ...before, schemas: { ThingCreated: { $id: 'v1', properties: {} } } },
      ['ThingCreated.name is gone'],
    ],
    ['another version', { ...before, schemas: { ThingCreated: { $id: 'v2', properties: {} } } }, []],
  ])('%s', (_name, after, changes) => {
    expect(findBreakingEventChanges(before, after)).toEqual(changes);
  });
});
