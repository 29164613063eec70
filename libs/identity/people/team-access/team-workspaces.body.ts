import { z } from 'zod';
import { WORKSPACE_LEVELS, type WorkspaceAccess } from '#api/access';
import { fromAttributes, omitNullish, requiredToOne, resourceBody } from '#api/json-api';
import { flag, sharedFields, storedFlag } from './team-access.body.js';
import { checkFields, type NamedFields } from './team-access.js';
import { WORKSPACE_ACCESS_SCALE } from './team-workspace.js';

const fields = {
  ...sharedFields,
  'workspace-locking': flag,
  'run-tasks': storedFlag,
  'policy-overrides': storedFlag,
};
const access = z.enum(WORKSPACE_LEVELS);
export const createBody = resourceBody(
  'team-workspaces',
  z.object({ access, ...fields }),
  z.object({ team: requiredToOne, workspace: requiredToOne }),
);
const changedAttributes = z.object({ access: access.nullish(), ...fields });
export const updateBody = resourceBody('team-workspaces', changedAttributes.default({}));

type TeamWorkspaceAttributes = z.infer<typeof updateBody>['data']['attributes'];

/** Returns the fields of a request. Ignores null, because single fields cannot be cleared. */
export const toAccessFields = (attributes: TeamWorkspaceAttributes): NamedFields<WorkspaceAccess> => {
  const { access: _, ...accessFields } = attributes;
  return fromAttributes(omitNullish(accessFields));
};

/** Parses the attributes again, because a request may also contain attributes that this resource does not have. */
export const checkAttributes = (parsedAttributes: object): void => {
  const attributes = changedAttributes.parse(parsedAttributes);
  checkFields(attributes.access, toAccessFields(attributes), WORKSPACE_ACCESS_SCALE);
};
