import { describe, expect, it } from '@jest/globals';
import { specify } from '#platform/kernel/spec';
import { checkRunTask, runTask, type RunTaskEvent, type RunTaskSettings } from './run-task.js';

const { given } = specify(runTask);

const SETTINGS: RunTaskSettings = {
  name: 'scanner',
  url: 'https://scanner.example/hook',
  description: '',
  enabled: true,
  globalEnabled: false,
  globalStages: [],
  globalEnforcementLevel: 'advisory',
  hasHmacKey: true,
};
const created: RunTaskEvent = { type: 'RunTaskCreated', data: { ...SETTINGS, globalStages: [] } };
const deleted: RunTaskEvent = { type: 'RunTaskDeleted', data: { ...SETTINGS, globalStages: [] } };
const update = (changes: Partial<RunTaskSettings>, isHmacKeyChanged = false) =>
  ({ type: 'UpdateRunTask', data: { changes, isHmacKeyChanged } }) as const;

describe('a run task', () => {
  it('is created once', () => {
    given().when({ type: 'CreateRunTask', data: SETTINGS }).yields(created);
    given(created).when({ type: 'CreateRunTask', data: SETTINGS }).refuses('conflict', 'exists already');
  });

  it('records all settings after a change, with the stages in the order of a run', () => {
    given(created)
      .when(update({ globalEnabled: true, globalStages: ['pre_apply', 'pre_plan', 'pre_apply'] }))
      .yields({
        type: 'RunTaskUpdated',
        data: { ...SETTINGS, globalEnabled: true, globalStages: ['pre_plan', 'pre_apply'], isHmacKeyChanged: false },
      });
  });

  it('records a new key without any other change, and nothing if nothing changes', () => {
    given(created)
      .when(update({}, true))
      .yields({ type: 'RunTaskUpdated', data: { ...SETTINGS, globalStages: [], isHmacKeyChanged: true } });
    given(created)
      .when(update({ name: 'scanner' }))
      .yields();
  });

  it('is deleted with its last settings, and refuses every command afterwards', () => {
    given(created).when({ type: 'DeleteRunTask', data: {} }).yields(deleted);
    given(created, deleted)
      .when(update({ enabled: false }))
      .refuses('not-found', 'Not found');
  });

  it.each([
    [{ name: 'a name' }, 'Name may only contain'],
    [{ name: '' }, "Name can't be blank"],
    [{ url: 'scanner' }, 'Url must be an address that begins with https:// or http://'],
    [{ url: 'file:///etc/passwd' }, 'Url must be an address that begins with https:// or http://'],
    [{ url: 'https://ada:secret@scanner.example' }, 'Url must not contain a user name or a password'],
    [{ globalEnabled: true }, 'Global-configuration must name at least one stage, such as post_plan'],
    [{ description: 'x'.repeat(301) }, 'Description is too long (at most 300 characters), got 301'],
  ])('refuses %j', (change, detail) => {
    expect(() => checkRunTask({ ...SETTINGS, ...change })).toThrow(detail);
  });
});
