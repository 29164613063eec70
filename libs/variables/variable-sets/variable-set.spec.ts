import { describe, it } from '@jest/globals';
import { specify } from '#kernel/spec';
import {
  NO_TARGETS,
  variableSet,
  type VariableSetTargets,
  type VariableSetChanges,
  type VariableSetCommand,
  type VariableSetEvent,
} from './variable-set.js';

const { given } = specify(variableSet);

const facts = { name: 'Credentials', description: null, global: false, priority: false, project: null };
const born: VariableSetEvent = { type: 'VariableSetCreated', data: facts };
const bornGlobal: VariableSetEvent = { type: 'VariableSetCreated', data: { ...facts, global: true } };
const bornInProject: VariableSetEvent = { type: 'VariableSetCreated', data: { ...facts, project: 'prj-1' } };
const applied = (targets: Partial<VariableSetTargets>): VariableSetEvent => ({
  type: 'VariableSetApplied',
  data: { ...NO_TARGETS, ...targets },
});
const withdrawn = (targets: Partial<VariableSetTargets>): VariableSetEvent => ({
  type: 'VariableSetWithdrawn',
  data: { ...NO_TARGETS, ...targets },
});
const updated = (changes: VariableSetChanges): VariableSetEvent => ({ type: 'VariableSetUpdated', data: { changes } });
const gone: VariableSetEvent = { type: 'VariableSetDeleted', data: { name: 'Credentials' } };

const create = (data: object = {}): VariableSetCommand => ({
  type: 'CreateVariableSet',
  data: { ...facts, targets: NO_TARGETS, ...data },
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
const remove: VariableSetCommand = { type: 'DeleteVariableSet', data: {} };

describe('a variable set', () => {
  it('is born, and applied to what is named, each once', () => {
    given().when(create()).yields(born);
    given()
      .when(create({ targets: { workspaces: ['ws-1', 'ws-1'], projects: ['prj-1'] } }))
      .yields(born, applied({ workspaces: ['ws-1'], projects: ['prj-1'] }));
  });

  it('has a name, and nothing in it is too long', () => {
    given()
      .when(create({ name: ' ' }))
      .refuses('unprocessable', "Name can't be blank");
    given()
      .when(create({ name: 'n'.repeat(256) }))
      .refuses('unprocessable', 'Name is too long');
    given(born)
      .when(update({ description: 'd'.repeat(513) }))
      .refuses('unprocessable', 'Description is too long');
    given()
      .when(create({ name: 'Any: thing, really!' }))
      .yields({
        type: 'VariableSetCreated',
        data: { ...facts, name: 'Any: thing, really!' },
      });
  });

  it('tells only what has changed', () => {
    given(born)
      .when(update({ name: 'Credentials', priority: true }))
      .yields(updated({ priority: true }));
    given(born).when(update({})).yields();
  });

  it('is applied and withdrawn, as far as that is news', () => {
    const one = applied({ workspaces: ['ws-1'] });
    given(born)
      .when(apply({ workspaces: ['ws-1'] }))
      .yields(one);
    given(born, one)
      .when(apply({ workspaces: ['ws-1', 'ws-2'] }))
      .yields(applied({ workspaces: ['ws-2'] }));
    given(born, one)
      .when(apply({ workspaces: ['ws-1'] }))
      .yields();
    given(born, one)
      .when(withdraw({ workspaces: ['ws-1', 'ws-3'] }))
      .yields(withdrawn({ workspaces: ['ws-1'] }));
    given(born, one)
      .when(withdraw({ workspaces: ['ws-3'] }))
      .yields();
    given(born, one, withdrawn({ workspaces: ['ws-1'] }))
      .when(apply({ workspaces: ['ws-1'] }))
      .yields(one);
  });

  it('is applied to just those of a list that an update brings; a list that is missing stays', () => {
    const before = applied({ workspaces: ['ws-1', 'ws-2'], projects: ['prj-1'] });
    given(born, before)
      .when(update({}, { workspaces: ['ws-2', 'ws-3'] }))
      .yields(withdrawn({ workspaces: ['ws-1'] }), applied({ workspaces: ['ws-3'] }));
    given(born, before)
      .when(update({}, { projects: [] }))
      .yields(withdrawn({ projects: ['prj-1'] }));
    given(born, before)
      .when(update({}, { workspaces: ['ws-2', 'ws-1'] }))
      .yields();
  });

  it('is applied to nothing in particular once it is global', () => {
    given(born, applied({ workspaces: ['ws-1'] }))
      .when(update({ global: true }, { workspaces: ['ws-2'] }))
      .yields(updated({ global: true }), withdrawn({ workspaces: ['ws-1'] }));
    given()
      .when(create({ global: true, targets: { workspaces: ['ws-1'], projects: [] } }))
      .yields(bornGlobal);
    given(bornGlobal)
      .when(apply({ workspaces: ['ws-1'] }))
      .refuses('unprocessable', 'A global variable set cannot be applied');
    given(bornGlobal)
      .when(withdraw({ projects: ['prj-1'] }))
      .refuses('unprocessable', 'A global variable set cannot be applied');
    given(bornGlobal)
      .when(update({ global: false }, { workspaces: ['ws-1'] }))
      .yields(updated({ global: false }), applied({ workspaces: ['ws-1'] }));
  });

  it('is not global where a project owns it', () => {
    given()
      .when(create({ global: true, project: 'prj-1' }))
      .refuses('unprocessable', 'Global must be false');
    given(bornInProject)
      .when(update({ global: true }))
      .refuses('unprocessable', 'Global must be false');
    given(bornInProject)
      .when(update({ global: false, priority: true }))
      .yields(updated({ priority: true }));
  });

  it('is deleted, and gone then', () => {
    given(born).when(remove).yields(gone);
    for (const command of [remove, update({ name: 'x' }), apply({ workspaces: ['ws-1'] })]) {
      given(born, gone).when(command).refuses('not-found', 'Not found');
    }
    given(born).when(create()).refuses('conflict', 'exists already');
  });
});
