import { unprocessable, type Refusal } from '#platform/kernel';
import { refuseTakenName } from '#platform/postgres';

/** For `catch`: refuses a name that another workspace of the organization has. */
export const refuseTakenWorkspaceName = refuseTakenName('workspaces_organization_name_key');

export const refuseProject = (): Refusal =>
  unprocessable('Project does not exist', '/data/relationships/project/data/id');

export const POOL_ERROR_TEXTS = { pointer: 'agent-pool-id', locationText: 'for this workspace' };
