import { z } from 'zod';
import { WORKSPACE_FIELDS } from '#api/access';
import { storedOnly } from '#api/json-api';

export const flag = z.boolean().nullish();
export const storedFlag = storedOnly(flag);

/** Members that access to a workspace has, and access to a project for the workspaces in it. */
export const sharedFields = {
  runs: z.enum(WORKSPACE_FIELDS.runs).nullish(),
  variables: z.enum(WORKSPACE_FIELDS.variables).nullish(),
  'state-versions': z.enum(WORKSPACE_FIELDS.stateVersions).nullish(),
  'sentinel-mocks': storedOnly(z.enum(WORKSPACE_FIELDS.sentinelMocks).nullish()),
};
