import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#kernel';
import { FollowerRunner } from '#event-store';
import { waitForFollowers } from '../../../test/support/event-log.js';
import { makeOrganization } from '../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../test/support/server.js';
import { createStateSweeper } from '../index.js';
import { createStateFile, createLockedWorkspace, createStateRequests, unlock } from '../spec.js';
import { StateFiles } from './state.files.js';

const { postState } = createStateRequests((bytes) => createHash('md5').update(bytes).digest('hex'));
const SWEEPER = 'state_sweeper';

let server: TestServer;
let files: StateFiles;

beforeAll(async () => {
  server = await startTestServer();
  await makeOrganization(server, 'acme');
  files = new StateFiles(server.runtime.blobs);
});

afterAll(() => server.close());

/** Lets the sweeper read what is in the log now, as a projector would that has just been started. */
const sweep = async (): Promise<void> => {
  const runner = new FollowerRunner(server.store, createStateSweeper(server.runtime.blobs), server.runtime.logger);
  runner.start();
  try {
    await waitForFollowers(server.store, SWEEPER);
  } finally {
    await runner.stop();
  }
};

const finalized = async (workspace: string): Promise<string> => {
  const bytes = createStateFile();
  return (await postState(server, workspace, { state: bytes.toString('base64') }, bytes)).body.data.id as string;
};

const kept = (): Promise<{ id: string }[]> => server.database.rows(sql`select id from state.kept_files order by id`);

describe('files', () => {
  it('of workspaces and organizations that are deleted are removed, whether the sweeper was there or came later', async () => {
    await makeOrganization(server, 'brief');
    const stays = await finalized(await createLockedWorkspace(server));
    const [workspace, inBrief] = [
      await createLockedWorkspace(server),
      await createLockedWorkspace(server, 'one', 'brief'),
    ];
    const [first, second] = [await finalized(workspace), await finalized(inBrief)];
    await sweep();
    expect(await Promise.all([stays, first, second].map((id) => files.has(id, 'state')))).toEqual([true, true, true]);
    const late = await createLockedWorkspace(server);
    const third = await finalized(late);
    for (const path of [`workspaces/${workspace}`, `workspaces/${late}`, 'organizations/brief']) {
      expect((await server.delete(`/api/v2/${path}`)).status).toBe(204);
    }
    await sweep();
    expect(await Promise.all([stays, first, second, third].map((id) => files.has(id, 'state')))).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect(await kept()).toEqual([{ id: stays }]);
  });

  it('of discarded versions are removed, also where a killed process had stored them', async () => {
    const workspace = await createLockedWorkspace(server);
    const id = (await postState(server, workspace, {}, createStateFile())).body.data.id as string;
    await files.put(id, 'state', createStateFile());
    await server.post(`/api/v2/workspaces/${workspace}/actions/force-unlock`);
    await sweep();
    expect(await files.has(id, 'state')).toBe(false);
  });

  it('are removed by the next one where the first was killed before it could say that it did', async () => {
    const workspace = await createLockedWorkspace(server);
    const id = await finalized(workspace);
    await unlock(server, workspace);
    expect((await server.delete(`/api/v2/workspaces/${workspace}`)).status).toBe(204);
    const before = await server.database.row(sql`select * from event_store.checkpoints where follower = ${SWEEPER}`);
    await sweep();
    // As if the files had been removed, and the checkpoint not been moved.
    await server.database.rows(sql`
      update event_store.checkpoints
         set transaction = ${before?.['transaction']}::xid8, position = ${before?.['position']}
       where follower = ${SWEEPER}`);
    await sweep();
    expect(await files.has(id, 'state')).toBe(false);
    expect((await kept()).map((row) => row.id)).not.toContain(id);
  });
});
