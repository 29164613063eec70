import { describe, expect, it } from '@jest/globals';
import { makeAgentPool } from '../../support/seeds.js';
import { describeRefusals, workspace, WORKSPACES, type BadRequestCase } from './bad-requests.js';

const { expectRefusal, get } = describeRefusals({}, async (server) => ({
  pool: await makeAgentPool(server, 'acme', 'edge'),
}));

const STATES = 'POST /api/v2/workspaces/{workspace}/state-versions';

const big = `{"data":{"attributes":{"name":"${'x'.repeat(10_000_000)}"}}}`;

describe('a body that cannot be parsed', () => {
  it.each<BadRequestCase>([
    { title: 'broken JSON', send: `POST ${WORKSPACES}`, body: '{"data":', status: 400 },
    { title: 'no JSON at all', send: `POST ${WORKSPACES}`, body: 'name=one', status: 400 },
    {
      title: 'bytes that are no UTF-8',
      send: `POST ${WORKSPACES}`,
      body: new Uint8Array([0xff, 0xfe, 0x7b]),
      status: 400,
    },
    { title: 'a poisoned prototype', send: `POST ${WORKSPACES}`, body: '{"__proto__":{"x":1}}', status: 400 },
    ...['{"__proto__":{"x":1}}', '{"data":{"attributes":{"constructor":{"prototype":{"x":1}}}}}'].map(
      (body): BadRequestCase => ({
        title: `a poisoned prototype in ${body}`,
        send: STATES,
        body,
        status: 400,
      }),
    ),
    {
      title: 'JSON that is nested a hundred thousand deep',
      send: `POST ${WORKSPACES}`,
      body: `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
      status: 422,
    },
    {
      title: 'a form',
      send: `POST ${WORKSPACES}`,
      body: 'name=one',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      status: 415,
    },
    {
      title: 'plain text',
      send: `POST ${WORKSPACES}`,
      body: '{}',
      headers: { 'content-type': 'text/plain' },
      status: 415,
    },
    {
      title: 'bytes',
      send: `POST ${WORKSPACES}`,
      body: '{}',
      headers: { 'content-type': 'application/octet-stream' },
      status: 415,
    },
    {
      title: 'bytes for a state version',
      send: STATES,
      body: '{}',
      headers: { 'content-type': 'application/octet-stream' },
      status: 415,
    },
    {
      title: 'an invalid media type',
      send: `POST ${WORKSPACES}`,
      body: '{}',
      headers: { 'content-type': 'nonsense' },
      status: 415,
    },
    { title: '10 MB', send: `POST ${WORKSPACES}`, body: big, status: 413 },
    { title: '10 MB for a lock', send: 'POST /api/v2/workspaces/{workspace}/actions/lock', body: big, status: 413 },
  ])('is refused for $title: $send', async (bad) => {
    await expectRefusal(bad);
  });
});

describe('an unknown id or name', () => {
  const ids = ['ws-nowhere', '{project}', 'null', '%20', '..%2F..', "'%20or%201=1", 'x'.repeat(400)];

  it.each<BadRequestCase>([
    ...ids.map((id): BadRequestCase => ({
      title: 'an unknown workspace',
      send: `GET /api/v2/workspaces/${id}`,
      status: 404,
    })),
    { title: 'an id that is too long', send: `GET /api/v2/workspaces/${'x'.repeat(1_000)}`, status: 404 },
    { title: 'an incomplete escape', send: 'GET /api/v2/workspaces/%', status: 400 },
    { title: 'an escape that is no UTF-8', send: 'GET /api/v2/workspaces/%FF', status: 400 },
    { title: 'a NUL', send: 'GET /api/v2/workspaces/%00', status: 400 },
    { title: 'an unknown route', send: 'GET /api/v2/nothing/here', status: 404 },
    { title: 'an unknown method', send: 'PUT /api/v2/workspaces/{workspace}', body: workspace({}), status: 405 },
    { title: 'an unknown name', send: `GET ${WORKSPACES}/none`, status: 404 },
    { title: 'a name with a NUL', send: `GET ${WORKSPACES}/%00`, status: 400 },
    { title: 'an unknown organization', send: 'GET /api/v2/organizations/nobody', status: 404 },
    {
      title: 'a new workspace in an unknown organization',
      send: 'POST /api/v2/organizations/nobody/workspaces',
      body: workspace({ name: 'x' }),
      status: 404,
    },
    { title: 'an unknown project', send: 'DELETE /api/v2/projects/prj-nowhere', status: 404 },
    { title: 'an unknown token', send: 'DELETE /api/v2/authentication-tokens/at-nowhere', status: 404 },
    ...['POST /api/v2/workspaces/ws-nowhere/actions/lock', 'DELETE /api/v2/workspaces/ws-nowhere'].map(
      (line): BadRequestCase => ({
        title: 'an action on an unknown workspace',
        send: line as BadRequestCase['send'],
        status: 404,
      }),
    ),
  ])('is refused for $title: $send', async (bad) => {
    await expectRefusal(bad);
  });
});

describe('a wrong parameter', () => {
  it.each<BadRequestCase>([
    {
      title: 'an unknown include',
      send: 'GET /api/v2/workspaces/{workspace}?include=moon',
      status: 400,
      problems: [[null, /include parameter/]],
    },
    { title: 'page 0', send: `GET ${WORKSPACES}?page%5Bnumber%5D=0`, status: 400 },
    { title: 'page -1', send: `GET ${WORKSPACES}?page%5Bnumber%5D=-1`, status: 400 },
    { title: 'page one', send: `GET ${WORKSPACES}?page%5Bnumber%5D=one`, status: 400 },
    { title: 'a fractional page size', send: `GET ${WORKSPACES}?page%5Bsize%5D=0.5`, status: 400 },
    {
      title: 'a page number that is too large',
      send: `GET ${WORKSPACES}?page%5Bnumber%5D=99999999999999999999`,
      status: 400,
    },
    { title: 'a search for a NUL', send: `GET ${WORKSPACES}?search%5Bname%5D=%00`, status: 400 },
    { title: 'an unknown order', send: `GET ${WORKSPACES}?sort=colour`, status: 400 },
    {
      title: 'a filter that the list does not know',
      send: `GET ${WORKSPACES}?filter[colour]=red`,
      status: 400,
      problems: [[null, /^filter\[colour\]: is not supported, accepted are search\[name\], /]],
    },
    { title: 'a year of three digits', send: 'GET /api/v2/organizations/acme/runs?filter[timeframe]=999', status: 400 },
  ])('is refused for $title: $send', async (bad) => {
    await expectRefusal(bad);
  });

  it.each([
    ['a page past the end', `${WORKSPACES}?page%5Bnumber%5D=999999999&page%5Bsize%5D=100`],
    ['a search that is broken UTF-8', `${WORKSPACES}?search%5Bname%5D=%FF`],
    ['a pattern of wildcards', `${WORKSPACES}?search%5Bwildcard-name%5D=${encodeURIComponent('%_\\*')}z`],
    ['a pattern of nothing but wildcards and letters', `${WORKSPACES}?search[wildcard-name]=${'*z'.repeat(127)}`],
    ['a name as long as it may be', `${WORKSPACES}?search[name]=${'x'.repeat(255)}`],
    ['one tag, a hundred times', `${WORKSPACES}?search[tags]=${'rare,'.repeat(100)}`],
    ['a hundred tags', `${WORKSPACES}?search[tags]=${Array.from({ length: 100 }, (_, n) => `t${n}`).join(',')}`],
    ['an unknown status', `${WORKSPACES}?filter[current-run][status]=%FF,%F0%9F%98%80,pending`],
    ['a year far in the future', '/api/v2/organizations/acme/runs?filter[timeframe]=9999'],
    ['a year before all runs', '/api/v2/organizations/acme/runs?filter[timeframe]=1000'],
    [
      'a time that is later in UTC than all others',
      '/api/v2/agent-pools/{pool}/agents?filter[last-ping-since]=9999-12-31T23:59:59-23:00',
    ],
    ['a year that Postgres does not know', '/api/v2/agent-pools/{pool}/agents?filter[last-ping-since]=0000-01-01'],
  ])('is accepted and matches nothing: %s', async (_, path) => {
    const { status, body } = await get(path);
    expect({ status, data: body.data }).toEqual({ status: 200, data: [] });
  });
});
