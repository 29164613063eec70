import { unprocessable, type Refusal } from '#platform/kernel';
import { refuseTakenName } from '#platform/postgres';

const NAME_CONSTRAINT = 'workspaces_organization_name_key';

/** For `catch`: refuses a name that another workspace of the organization has. */
export const refuseTakenWorkspaceName = refuseTakenName(NAME_CONSTRAINT);

/** For `catch`: refuses to recover a workspace whose name another one has. */
export const refuseTakenRecoveryName = refuseTakenName(
  NAME_CONSTRAINT,
  'name',
  'rename the other workspace, or send another name',
);

export const refuseProject = (): Refusal =>
  unprocessable('Project does not exist', '/data/relationships/project/data/id');

export const POOL_ERROR_TEXTS = { pointer: 'agent-pool-id', locationText: 'for this workspace' };
