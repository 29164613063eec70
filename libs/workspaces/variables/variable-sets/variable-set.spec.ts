import { describe, it } from '@jest/globals';
import { specify } from '#platform/kernel/spec';
import {
  NO_TARGETS,
  variableSet,
  type VariableSetTargets,
  type VariableSetChanges,
  type VariableSetCommand,
  type VariableSetEvent,
} from './variable-set.js';

const { given } = specify(variableSet);

const attributes = { name: 'Credentials', description: null, global: false, priority: false, project: null };
const created: VariableSetEvent = { type: 'VariableSetCreated', data: attributes };
const createdGlobal: VariableSetEvent = { type: 'VariableSetCreated', data: { ...attributes, global: true } };
const createdInProject: VariableSetEvent = { type: 'VariableSetCreated', data: { ...attributes, project: 'prj-1' } };
const applied = (targets: Partial<VariableSetTargets>): VariableSetEvent => ({
  type: 'VariableSetApplied',
  data: { ...NO_TARGETS, ...targets },
});
const withdrawn = (targets: Partial<VariableSetTargets>): VariableSetEvent => ({
  type: 'VariableSetWithdrawn',
  data: { ...NO_TARGETS, ...targets },
});
const updated = (changes: VariableSetChanges): VariableSetEvent => ({ type: 'VariableSetUpdated', data: { changes } });
const deletedUntil = (recoverableUntil: string | null): VariableSetEvent => ({
  type: 'VariableSetDeleted',
  data: { name: 'Credentials', recoverableUntil },
});
const deleted = deletedUntil(null);
const recoverablyDeleted = deletedUntil('2026-02-01T00:00:00.000Z');
const recovered = (name = 'Credentials'): VariableSetEvent => ({ type: 'VariableSetRecovered', data: { name } });
const purged = (expired: boolean): VariableSetEvent => ({
  type: 'VariableSetPurged',
  data: { name: 'Credentials', expired },
});

const create = (data: object = {}): VariableSetCommand => ({
  type: 'CreateVariableSet',
  data: { ...attributes, targets: NO_TARGETS, ...data },
});
const update = (changes: VariableSetChanges, targets: Partial<VariableSetTargets> = {}): VariableSetCommand => ({
  type: 'UpdateVariableSet',
  data: { changes, targets },
});
const apply = (targets: Partial<VariableSetTargets>): VariableSetCommand => ({
  type: 'ApplyVariableSet',
  data: { ...NO_TARGETS, ...targets },
});
const withdraw = (targets: Partial<VariableSetTargets>): VariableSetCommand => ({
  type: 'WithdrawVariableSet',
  data: { ...NO_TARGETS, ...targets },
});
const remove: VariableSetCommand = { type: 'DeleteVariableSet', data: { recoverableUntil: null } };
const recover = (name?: string): VariableSetCommand => ({ type: 'RecoverVariableSet', data: { name } });
const purge = (expired: boolean): VariableSetCommand => ({ type: 'PurgeVariableSet', data: { expired } });

describe('a variable set', () => {
  it('is created, and applied to each target once', () => {
    given().when(create()).yields(created);
    given()
      .when(create({ targets: { workspaces: ['ws-1', 'ws-1'], projects: ['prj-1'] } }))
      .yields(created, applied({ workspaces: ['ws-1'], projects: ['prj-1'] }));
  });

  it('requires a name, and refuses texts that are too long', () => {
    given()
      .when(create({ name: ' ' }))
      .refuses('unprocessable', "Name can't be blank");
    given()
      .when(create({ name: 'n'.repeat(256) }))
      .refuses('unprocessable', 'Name is too long');
    given(created)
      .when(update({ description: 'd'.repeat(513) }))
      .refuses('unprocessable', 'Description is too long');
    given()
      .when(create({ name: 'Any: thing, really!' }))
      .yields({
        type: 'VariableSetCreated',
        data: { ...attributes, name: 'Any: thing, really!' },
      });
  });

  it('records only the attributes that an update changes', () => {
    given(created)
      .when(update({ name: 'Credentials', priority: true }))
      .yields(updated({ priority: true }));
    given(created).when(update({})).yields();
  });

  it('is applied to and withdrawn from a target only if that changes something', () => {
    const one = applied({ workspaces: ['ws-1'] });
    given(created)
      .when(apply({ workspaces: ['ws-1'] }))
      .yields(one);
    given(created, one)
      .when(apply({ workspaces: ['ws-1', 'ws-2'] }))
      .yields(applied({ workspaces: ['ws-2'] }));
    given(created, one)
      .when(apply({ workspaces: ['ws-1'] }))
      .yields();
    given(created, one)
      .when(withdraw({ workspaces: ['ws-1', 'ws-3'] }))
      .yields(withdrawn({ workspaces: ['ws-1'] }));
    given(created, one)
      .when(withdraw({ workspaces: ['ws-3'] }))
      .yields();
    given(created, one, withdrawn({ workspaces: ['ws-1'] }))
      .when(apply({ workspaces: ['ws-1'] }))
      .yields(one);
  });

  it('is applied to exactly the targets of a list in an update; without a list its targets stay', () => {
    const before = applied({ workspaces: ['ws-1', 'ws-2'], projects: ['prj-1'] });
    given(created, before)
      .when(update({}, { workspaces: ['ws-2', 'ws-3'] }))
      .yields(withdrawn({ workspaces: ['ws-1'] }), applied({ workspaces: ['ws-3'] }));
    given(created, before)
      .when(update({}, { projects: [] }))
      .yields(withdrawn({ projects: ['prj-1'] }));
    given(created, before)
      .when(update({}, { workspaces: ['ws-2', 'ws-1'] }))
      .yields();
  });

  it('has no targets while it is global', () => {
    given(created, applied({ workspaces: ['ws-1'] }))
      .when(update({ global: true }, { workspaces: ['ws-2'] }))
      .yields(updated({ global: true }), withdrawn({ workspaces: ['ws-1'] }));
    given()
      .when(create({ global: true, targets: { workspaces: ['ws-1'], projects: [] } }))
      .yields(createdGlobal);
    given(createdGlobal)
      .when(apply({ workspaces: ['ws-1'] }))
      .refuses('unprocessable', 'A global variable set cannot be applied');
    given(createdGlobal)
      .when(withdraw({ projects: ['prj-1'] }))
      .refuses('unprocessable', 'A global variable set cannot be applied');
    given(createdGlobal)
      .when(update({ global: false }, { workspaces: ['ws-1'] }))
      .yields(updated({ global: false }), applied({ workspaces: ['ws-1'] }));
  });

  it('cannot be global if a project owns it', () => {
    given()
      .when(create({ global: true, project: 'prj-1' }))
      .refuses('unprocessable', 'Global must be false');
    given(createdInProject)
      .when(update({ global: true }))
      .refuses('unprocessable', 'Global must be false');
    given(createdInProject)
      .when(update({ global: false, priority: true }))
      .yields(updated({ priority: true }));
  });

  it('is deleted once, and refuses every command afterwards', () => {
    given(created).when(remove).yields(deleted);
    for (const command of [remove, update({ name: 'x' }), apply({ workspaces: ['ws-1'] })]) {
      given(created, deleted).when(command).refuses('not-found', 'Not found');
    }
    given(created).when(create()).refuses('conflict', 'exists already');
  });
});

describe('a deleted variable set', () => {
  it('is recovered with the name and the targets that it had, or with another name', () => {
    given(created, recoverablyDeleted).when(recover()).yields(recovered());
    given(created, recoverablyDeleted).when(recover('Others')).yields(recovered('Others'));
    given(created, recoverablyDeleted).when(recover(' ')).refuses('unprocessable', "Name can't be blank");
    const before = applied({ workspaces: ['ws-1'] });
    given(created, before, recoverablyDeleted, recovered('Others'))
      .when(withdraw({ workspaces: ['ws-1'] }))
      .yields(withdrawn({ workspaces: ['ws-1'] }));
  });

  it('is recovered once, unless it is deleted again, and never after a final deletion or its purge', () => {
    given(created, recoverablyDeleted, recovered())
      .when(recover())
      .refuses('conflict', 'The variable set is not deleted');
    given(created, recoverablyDeleted, recovered(), recoverablyDeleted).when(recover()).yields(recovered());
    given(created, deleted).when(recover()).refuses('not-found', 'Not found');
    given(created, recoverablyDeleted, purged(true)).when(recover()).refuses('not-found', 'Not found');
  });

  it('is purged once, by a person or by the job', () => {
    given(created, recoverablyDeleted).when(purge(false)).yields(purged(false));
    given(created, recoverablyDeleted).when(purge(true)).yields(purged(true));
    given(created, recoverablyDeleted, purged(false)).when(purge(true)).yields();
    given(created, recoverablyDeleted, recovered()).when(purge(true)).yields();
    given(created).when(purge(false)).refuses('conflict', 'The variable set is not deleted');
  });
});
