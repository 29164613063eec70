import { expect, it } from '@jest/globals';
import type { StateSummary } from './state-head.js';
import { ChangeWorkspace } from './workspaces.commands.js';

const facts: StateSummary = {
  format: 4,
  lineage: null,
  size: 9,
  terraformVersion: null,
  resources: 3,
  providers: {},
  modules: {},
  outputs: [],
};

it('requires an actor for each command except the end of an upload', () => {
  const upload = new ChangeWorkspace('FinalizeUpload', { workspace: 'ws-1', data: { id: 'sv-1', facts } });
  expect(upload.input).not.toHaveProperty('actor');
  // @ts-expect-error without an actor, nothing would check the permission
  const unlock = new ChangeWorkspace('ForceUnlockWorkspace', { target: { id: 'ws-1' }, data: {}, actor: null });
  // @ts-expect-error the data of another command
  const remove = new ChangeWorkspace('FinalizeUpload', { workspace: 'ws-1', data: { forced: true } });
  expect([unlock, remove]).toHaveLength(2);
});
