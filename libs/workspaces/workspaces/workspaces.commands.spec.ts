import { expect, it } from '@jest/globals';
import type { StateSummary } from './state-head.js';
import { FinalizeUpload, ChangeWorkspace } from './workspaces.commands.js';

const facts: StateSummary = { size: 9, terraformVersion: null, resources: 3, providers: {}, modules: {}, outputs: [] };

it('code outside the module can only report an upload to a workspace', () => {
  expect(new FinalizeUpload('ws-1', { id: 'sv-1', facts })).not.toHaveProperty('actor');
  // @ts-expect-error every command wants an actor: without one it would not be asked who may
  const unlock = new ChangeWorkspace({ id: 'ws-1' }, { type: 'ForceUnlockWorkspace', data: {} }, null);
  // @ts-expect-error an upload is no way to delete a workspace
  const remove = new FinalizeUpload('ws-1', { forced: true });
  expect([unlock, remove]).toHaveLength(2);
});
