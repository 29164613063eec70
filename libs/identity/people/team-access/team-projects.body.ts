import { z } from 'zod';
import { PROJECT_FIELDS, PROJECT_LEVELS, type CustomProjectAccess } from '#api/access';
import { fromAttributes, omitNullish, requiredToOne, resourceBody, strictObject } from '#api/json-api';
import { flag, sharedFields, storedFlag } from './team-access.body.js';
import { checkFields, type NamedFields } from './team-access.js';
import { PROJECT_ACCESS_SCALE } from './team-project.js';

const fields = {
  'project-access': strictObject({
    settings: z.enum(PROJECT_FIELDS.settings).nullish(),
    teams: z.enum(PROJECT_FIELDS.teams).nullish(),
    'variable-sets': z.enum(PROJECT_FIELDS.variableSets).nullish(),
  }).nullish(),
  'workspace-access': strictObject({
    ...sharedFields,
    'run-tasks': storedFlag,
    create: flag,
    locking: flag,
    delete: flag,
    move: flag,
    'policy-overrides': storedFlag,
  }).nullish(),
};
const access = z.enum(PROJECT_LEVELS);
/** pytfe sends the second type. */
const TYPES = ['team-projects', 'team-project-access'];
export const createBody = resourceBody(
  TYPES,
  z.object({ access, ...fields }),
  z.object({ team: requiredToOne, project: requiredToOne }),
);
const changedAttributes = z.object({ access: access.nullish(), ...fields });
export const updateBody = resourceBody(TYPES, changedAttributes.default({}));

type TeamProjectAttributes = z.infer<typeof updateBody>['data']['attributes'];

/** Returns the fields of a request. Ignores null, because single fields cannot be cleared. */
export const toAccessFields = (attributes: TeamProjectAttributes): NamedFields<CustomProjectAccess> => ({
  ...fromAttributes(omitNullish(attributes['workspace-access'] ?? {})),
  project: fromAttributes(omitNullish(attributes['project-access'] ?? {})),
});

/** Parses the attributes again, because a request may also contain attributes that this resource does not have. */
export const checkAttributes = (parsedAttributes: object): void => {
  const attributes = changedAttributes.parse(parsedAttributes);
  checkFields(attributes.access, toAccessFields(attributes), PROJECT_ACCESS_SCALE);
};
