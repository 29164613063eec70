import { describe, expect, it } from '@jest/globals';
import { describeRefusals, WORKSPACES, type BadRequestCase } from './bad-requests.js';

// Reads with as-of wait for the follower that writes the history.
const { expectRefusal, get } = describeRefusals({ followers: true });

const DOCUMENTS_AS_OF = ['/api/v2/workspaces/{workspace}', `${WORKSPACES}/one`, WORKSPACES] as const;
const BINDINGS_AS_OF = [
  '/api/v2/workspaces/{workspace}/tag-bindings',
  '/api/v2/workspaces/{workspace}/effective-tag-bindings',
  '/api/v2/workspaces/{workspace}/relationships/tags',
  '/api/v2/projects/{project}/tag-bindings',
  '/api/v2/projects/{project}/effective-tag-bindings',
] as const;
const PAGED = [
  '/api/v2/workspaces/{workspace}/history',
  '/api/v2/workspaces/{workspace}/lock-history',
  '/api/v2/organizations/acme/locks',
] as const;

describe('the parameter as-of', () => {
  const times = [
    'now',
    '1',
    '-1',
    '1e10',
    'infinity',
    '-infinity',
    '%20',
    '%FF',
    "2026-01-01'",
    '2026112',
    '2026-11-21T1',
    '2026-13-01',
    '2026-02-29',
    '2026-11-21T23:59:60Z',
    '2026-11-21T24:00:00Z',
    '2026-01-01T00:00:00%2B24:00',
    '99999-01-01',
    '-0001-01-01',
    '%D9%A2%D9%A0%D9%A2%D9%A6-01-01',
    '2026-01-01&as-of=x',
  ];

  it.each<BadRequestCase>(
    DOCUMENTS_AS_OF.flatMap((path) =>
      times.map((time): BadRequestCase => ({
        title: decodeURIComponent(time.replace('%FF', '�')),
        send: `GET ${path}?as-of=${time}`,
        status: 400,
        problems: [[null, /as-of is not a valid ISO 8601 timestamp/]],
      })),
    ),
  )('refuses $title: $send', async (bad) => {
    await expectRefusal(bad);
  });

  it.each(['locked_by', 'current_run', 'project,current_configuration_version'])(
    'refuses include=%s, because the history does not have these resources',
    async (include) => {
      const refused = include.split(',').at(-1);
      const problems = [
        [null, new RegExp(`^include: ${refused} cannot be combined with as-of, because .* Accepted are .*project`)],
      ] as const;
      for (const path of DOCUMENTS_AS_OF) {
        const send = `GET ${path}?as-of=2026-01-01&include=${include}` as const;
        await expectRefusal({ title: '', send, status: 400, problems });
      }
    },
  );
});

describe('tags and bindings with as-of', () => {
  it('are refused if `as-of` is not a valid time', async () => {
    for (const path of BINDINGS_AS_OF) {
      const problems = [[null, /as-of is not a valid ISO 8601 timestamp/]] as const;
      await expectRefusal({ title: '', send: `GET ${path}?as-of=now`, status: 400, problems });
    }
  });
});

describe('as-of before the first event', () => {
  it.each(['0000-01-01', '0000-01-01T00:00:00%2B23:59', '0001-01-01T00:00:00Z', '1969-12-31T23:59:59.999999999Z'])(
    'returns 404 for %s',
    async (time) => {
      for (const path of [...DOCUMENTS_AS_OF, ...BINDINGS_AS_OF]) {
        await expectRefusal({ title: '', send: `GET ${path}?as-of=${time}`, status: 404 });
      }
    },
  );
});

describe('as-of in the future', () => {
  it.each(['9999-12-31', '9999-12-31T23:59:59.999999999-23:59'])('returns the current data for %s', async (time) => {
    for (const path of [...DOCUMENTS_AS_OF, ...BINDINGS_AS_OF]) {
      const [then, future] = [await get(`${path}?as-of=${time}`), await get(path)];
      expect([then.status, then.body.data]).toEqual([200, future.body.data]);
    }
  });
});

describe('pages and filters of the history', () => {
  it.each<BadRequestCase>(
    PAGED.flatMap((path) =>
      [
        'page[number]=0',
        'page[number]=-1',
        'page[number]=1e3',
        'page[number]=1000000000',
        'page[size]=0',
        'page[size]=x',
      ].map((query): BadRequestCase => ({ title: 'an invalid page', send: `GET ${path}?${query}`, status: 400 })),
    ),
  )('are refused for $title: $send', async (bad) => {
    await expectRefusal(bad);
  });

  it.each([
    'page[number]=999999999&page[size]=100',
    'filter[field]=%FF',
    `filter[field]=${'a'.repeat(255)}`,
    'filter[actor]=%FF',
    "filter[actor]='%20or%20true%20--",
    `filter[actor]=${'%F0%9F%98%80'.repeat(250)}`,
  ])('are accepted and match nothing: %s', async (query) => {
    const path = `/api/v2/workspaces/{workspace}/history?${query}`;
    expect(await get(path)).toMatchObject({ status: 200, body: { data: [] } });
  });

  it.each<BadRequestCase>([
    {
      title: 'more values than a list may have',
      send: `GET /api/v2/workspaces/{workspace}/history?filter[field]=${'a,'.repeat(4_000)}`,
      status: 400,
    },
    {
      title: 'a value that is too long',
      send: `GET /api/v2/workspaces/{workspace}/history?filter[actor]=${'%F0%9F%98%80'.repeat(1_000)}`,
      status: 400,
    },
  ])('are refused for $title', async (bad) => {
    await expectRefusal(bad);
  });

  it('return 404 for an unknown workspace or organization', async () => {
    for (const path of PAGED) {
      const send = `GET ${path.replace('{workspace}', 'ws-nowhere').replace('acme', 'nobody')}` as const;
      await expectRefusal({ title: '', send, status: 404 });
    }
  });
});
