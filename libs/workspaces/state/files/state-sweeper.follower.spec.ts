import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { FollowerRunner } from '#storage/event-store';
import { waitForFollowers } from '../../../../test/support/event-log.js';
import { makeOrganization } from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { createStateSweeper } from '../index.js';
import { createStateFile, createLockedWorkspace, createStateRequests, unlock } from '../spec.js';
import { StateFiles } from './state.files.js';

const { postState } = createStateRequests((bytes) => createHash('md5').update(bytes).digest('hex'));
const SWEEPER = 'state_sweeper';

let server: TestServer;
let files: StateFiles;

beforeAll(async () => {
  server = await startTestServer({ env: { CADASTRE_RECOVERABLE_DAYS: '0' } });
  await makeOrganization(server, 'acme');
  files = new StateFiles(server.runtime.blobs);
});

afterAll(() => server.close());

/** Runs the sweeper up to the head of the log, as a newly started projector would. */
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

const listOwnedFiles = (): Promise<{ id: string }[]> =>
  server.database.rows(sql`select id from state.kept_files order by id`);

describe('state files', () => {
  it('are removed with their workspace or organization, even if the sweeper starts later', async () => {
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
    expect(await listOwnedFiles()).toEqual([{ id: stays }]);
  });

  it('are removed if their version is discarded, even if a killed process stored them', async () => {
    const workspace = await createLockedWorkspace(server);
    const id = (await postState(server, workspace, {}, createStateFile())).body.data.id as string;
    await files.put(id, 'state', createStateFile());
    await server.post(`/api/v2/workspaces/${workspace}/actions/force-unlock`);
    await sweep();
    expect(await files.has(id, 'state')).toBe(false);
  });

  it('are removed by the next sweeper if the first was killed before it stored its checkpoint', async () => {
    const workspace = await createLockedWorkspace(server);
    const id = await finalized(workspace);
    await unlock(server, workspace);
    expect((await server.delete(`/api/v2/workspaces/${workspace}`)).status).toBe(204);
    const before = await server.database.row(sql`select * from event_store.checkpoints where follower = ${SWEEPER}`);
    await sweep();
    // Simulates a sweeper that removed the files but did not store its checkpoint.
    await server.database.rows(sql`
      update event_store.checkpoints
         set transaction = ${before?.['transaction']}::xid8, position = ${before?.['position']}
       where follower = ${SWEEPER}`);
    await sweep();
    expect(await files.has(id, 'state')).toBe(false);
    expect((await listOwnedFiles()).map((row) => row.id)).not.toContain(id);
  });
});
