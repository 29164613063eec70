import { describe, it } from '@jest/globals';
import { specify } from '#platform/kernel/spec';
import { workspaceTask, type WorkspaceTaskEvent } from './workspace-task.js';

const { given } = specify(workspaceTask);

const subject = { workspace: 'ws-1', workspaceName: 'prod', task: 'task-1', taskName: 'scanner' };
const created: WorkspaceTaskEvent = {
  type: 'WorkspaceTaskCreated',
  data: { ...subject, enforcementLevel: 'mandatory', stages: ['post_plan'] },
};
const create = (stages: ('pre_plan' | 'post_plan')[]) =>
  ({ type: 'CreateWorkspaceTask', data: { ...subject, enforcementLevel: 'mandatory', stages } }) as const;

describe('a run task of a workspace', () => {
  it('is created once, with at least one stage', () => {
    given()
      .when(create(['post_plan', 'pre_plan', 'post_plan']))
      .yields({
        type: 'WorkspaceTaskCreated',
        data: { ...subject, enforcementLevel: 'mandatory', stages: ['pre_plan', 'post_plan'] },
      });
    given().when(create([])).refuses('unprocessable', 'Stages must name at least one stage, such as post_plan');
    given(created)
      .when(create(['post_plan']))
      .refuses('conflict', 'exists already');
  });

  it('changes its level, and records nothing if nothing changes', () => {
    given(created)
      .when({ type: 'UpdateWorkspaceTask', data: { subject, changes: { enforcementLevel: 'advisory' } } })
      .yields({
        type: 'WorkspaceTaskUpdated',
        data: { ...subject, enforcementLevel: 'advisory', stages: ['post_plan'] },
      });
    given(created)
      .when({ type: 'UpdateWorkspaceTask', data: { subject, changes: { stages: ['post_plan'] } } })
      .yields();
  });

  it('is deleted with its last settings', () => {
    given(created)
      .when({ type: 'DeleteWorkspaceTask', data: { subject } })
      .yields({ ...created, type: 'WorkspaceTaskDeleted' });
  });
});
