import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestServer, type TestServer } from '../../test/support/server.js';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
  await server.post('/api/v2/organizations', {
    data: { type: 'organizations', attributes: { name: 'acme', email: 'ops@acme.test' } },
  });
});

afterAll(() => server.close());

const createWorkspace = async (name: string, attributes: object = {}): Promise<string> => {
  const answer = await server.post('/api/v2/organizations/acme/workspaces', {
    data: { type: 'workspaces', attributes: { name, ...attributes } },
  });
  expect(answer.status).toBe(201);
  return answer.body.data.id as string;
};

describe('a workspace over HTTP', () => {
  it('is created, and shown by id and by names as the same document', async () => {
    const id = await createWorkspace('one', { 'auto-apply': true });
    const byId = await server.get(`/api/v2/workspaces/${id}`);
    const byName = await server.get('/api/v2/organizations/acme/workspaces/one');
    const list = await server.get('/api/v2/organizations/acme/workspaces?search%5Bname%5D=one');
    expect(byId.status).toBe(200);
    expect(byName.body).toEqual(byId.body);
    expect(list.body.data).toEqual([byId.body.data]);
    expect(byId.body.data.attributes['auto-apply']).toBe(true);
  });

  it('is locked by one of two, and the other is told who holds it', async () => {
    const id = await createWorkspace('two');
    const first = await server.post(`/api/v2/workspaces/${id}/actions/lock`, { reason: 'mine' });
    const second = await server.post(`/api/v2/workspaces/${id}/actions/lock`);
    expect(first.status).toBe(200);
    expect(first.body.data.attributes).toMatchObject({ locked: true, 'locked-reason': 'mine' });
    expect(second.status).toBe(409);
  });
});
