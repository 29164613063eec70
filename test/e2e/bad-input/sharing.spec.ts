import { describe, it } from '@jest/globals';
import { expectStatus, makeWorkspace, related, resource } from '../../support/seeds.js';
import { describeRefusals, type BadRequestCase } from './bad-requests.js';

const { expectRefusal } = describeRefusals({}, async (server) => {
  const key = await server.post(
    '/api/v2/organizations/other/ssh-keys',
    resource('ssh-keys', { name: 'k', value: 'x' }),
  );
  return {
    other: await makeWorkspace(server, 'acme', 'other'),
    foreign: await makeWorkspace(server, 'other', 'foreign'),
    global: await makeWorkspace(server, 'acme', 'global', { 'global-remote-state': true }),
    foreignKey: expectStatus(key, 201).body.data.id as string,
  };
});

/** Bodies that none of these routes accepts. */
const NONSENSE: readonly (readonly [what: string, body: unknown])[] = [
  ['no body', undefined],
  ['null', 'null'],
  ['a list', []],
  ['a text', '"x"'],
  ['a number', '7'],
  ['an empty object', {}],
  ['data that is null', { data: null }],
  ['data that is a text', { data: 'x' }],
  ['data that is a number', { data: 1e308 }],
  ['deeply nested data', `{"data":${'['.repeat(50_000)}${']'.repeat(50_000)}}`],
];

const nonsense = (send: BadRequestCase['send']): readonly BadRequestCase[] =>
  NONSENSE.map(([title, body]): BadRequestCase => ({
    title,
    send,
    ...(body === undefined ? {} : { body }),
    status: 422,
  }));

const CONSUMERS = '/api/v2/workspaces/{workspace}/relationships/remote-state-consumers';
const WRITES = [`POST ${CONSUMERS}`, `PATCH ${CONSUMERS}`, `DELETE ${CONSUMERS}`] as const;

describe('a wrong list of remote state consumers', () => {
  const wrong = (send: BadRequestCase['send']): readonly BadRequestCase[] => [
    ...nonsense(send),
    { title: 'an object instead of a list', send, body: { data: { type: 'workspaces', id: '{other}' } }, status: 422 },
    ...[null, [], 7, 'x'].map((entry): BadRequestCase => ({
      title: `an entry that is ${JSON.stringify(entry)}`,
      send,
      body: { data: [entry] },
      status: 422,
    })),
    ...[undefined, null, 7, {}, ['{other}']].map((id): BadRequestCase => ({
      title: `an id that is ${JSON.stringify(id) ?? 'missing'}`,
      send,
      body: { data: [{ type: 'workspaces', id }] },
      status: 422,
      problems: [['/data/0/id']],
    })),
    {
      title: 'a project',
      send,
      body: {
        data: [
          { type: 'workspaces', id: '{other}' },
          { type: 'projects', id: '{project}' },
        ],
      },
      status: 422,
      problems: [['/data/1/type', 'Type must be workspaces']],
    },
    {
      title: 'an id with a NUL',
      send,
      body: related('workspaces', 'ws-\u0000'),
      status: 422,
      problems: [['/data/0/id']],
    },
    {
      title: 'an id with half of a surrogate pair',
      send,
      body: String.raw`{"data":[{"type":"workspaces","id":"\ud83d"}]}`,
      status: 422,
      problems: [['/data/0/id']],
    },
    {
      title: 'an id of 200 KB',
      send,
      body: related('workspaces', 'x'.repeat(200_000)),
      status: 422,
      problems: [['/data/0/id', 'Id: too long, at most 255 characters']],
    },
    {
      title: 'a list of 1001 workspaces',
      send,
      body: related('workspaces', ...Array.from({ length: 1_001 }, (_, n) => `ws-${n}`)),
      status: 422,
      problems: [['/data', /at most 1000/]],
    },
    {
      title: 'several unknown workspaces beside a known one',
      send,
      body: related('workspaces', 'ws-nowhere', '{other}', '{project}'),
      status: 422,
      problems: [
        ['/data/0/id', 'Workspace ws-nowhere does not exist'],
        ['/data/2/id', /does not exist/],
      ],
    },
    {
      title: 'an entry with an empty id',
      send,
      body: related('workspaces', '{other}', ''),
      status: 422,
      problems: [['/data/1/id']],
    },
    {
      title: 'a resource of another organization',
      send,
      body: related('workspaces', '{foreign}'),
      status: 422,
      problems: [['/data/0/id', /^Workspace ws-\w+ does not exist$/]],
    },
    {
      title: 'a consumer although the state is shared globally',
      send: send.replace('{workspace}', '{global}') as BadRequestCase['send'],
      body: related('workspaces', '{other}'),
      status: 422,
      problems: [['/data', /global remote state sharing is enabled/]],
    },
    {
      title: 'an unknown workspace',
      send: send.replace('{workspace}', 'ws-nowhere') as BadRequestCase['send'],
      body: related('workspaces', '{other}'),
      status: 404,
    },
  ];

  it.each<BadRequestCase>([
    ...WRITES.flatMap(wrong),
    ...[`POST ${CONSUMERS}` as const, `PATCH ${CONSUMERS}` as const].map((send): BadRequestCase => ({
      title: 'the workspace itself',
      send,
      body: related('workspaces', '{other}', '{workspace}'),
      status: 422,
      problems: [['/data/1/id', 'A workspace cannot be its own remote state consumer']],
    })),
  ])('is refused for $title: $send', async (bad) => {
    await expectRefusal(bad);
  });
});

describe('a wrong assignment of an SSH key', () => {
  const send = 'PATCH /api/v2/workspaces/{workspace}/relationships/ssh-key';
  const ID = '/data/attributes/id';
  const bodyWithId = (id: unknown) => resource('workspaces', { id });

  it.each<BadRequestCase>([
    ...nonsense(send),
    { title: 'no attributes', send, body: { data: {} }, status: 422, problems: [['/data/attributes']] },
    { title: 'no id', send, body: resource('workspaces'), status: 422, problems: [[ID, "Id can't be blank"]] },
    {
      title: 'an id that is a number',
      send,
      body: bodyWithId(7),
      status: 422,
      problems: [[ID, 'Id must be a string']],
    },
    { title: 'an id that is a list', send, body: bodyWithId([]), status: 422, problems: [[ID]] },
    { title: 'an id with a NUL', send, body: bodyWithId('\u0000'), status: 422, problems: [[ID]] },
    {
      title: 'an id that is too long',
      send,
      body: bodyWithId('x'.repeat(256)),
      status: 422,
      problems: [[ID, /too long/]],
    },
    {
      title: 'an unknown key',
      send,
      body: bodyWithId('sshkey-0'),
      status: 422,
      problems: [[ID, 'SSH key does not exist']],
    },
    {
      title: 'a resource of another organization',
      send,
      body: bodyWithId('{foreignKey}'),
      status: 422,
      problems: [[ID, 'SSH key does not exist']],
    },
    { title: 'another type', send, body: resource('ssh-keys', { id: null }), status: 422, problems: [['/data/type']] },
  ])('is refused for $title: $send', async (bad) => {
    await expectRefusal(bad);
  });
});

describe('a wrong data retention policy', () => {
  const OLDERS = 'data-retention-policy-delete-olders';
  const DAYS = '/data/attributes/delete-older-than-n-days';
  const wrong = (send: BadRequestCase['send']): readonly BadRequestCase[] => [
    ...nonsense(send),
    { title: 'no days', send, body: resource(OLDERS), status: 422, problems: [[DAYS, /can't be blank/]] },
    { title: 'attributes that are a list', send, body: { data: { attributes: [] } }, status: 422 },
    { title: 'another type', send, body: resource('policies', { 'delete-older-than-n-days': 1 }), status: 422 },
    { title: 'a type that is a list', send, body: { data: { type: [OLDERS], attributes: {} } }, status: 422 },
    ...['"7"', '[7]', '{}', 'true', '1e400', '-0', '-1', '0', '1.5', '36501', '9007199254740993', '1e300'].map(
      (days): BadRequestCase => ({
        title: `${days} days`,
        send,
        body: `{"data":{"type":"${OLDERS}","attributes":{"delete-older-than-n-days":${days}}}}`,
        status: 422,
        problems: [[DAYS]],
      }),
    ),
  ];

  it.each<BadRequestCase>(
    ['workspaces/{workspace}', 'organizations/acme'].flatMap((owner) =>
      (['POST', 'PATCH'] as const).flatMap((method) =>
        wrong(`${method} /api/v2/${owner}/relationships/data-retention-policy`),
      ),
    ),
  )('is refused for $title: $send', async (bad) => {
    await expectRefusal(bad);
  });
});
