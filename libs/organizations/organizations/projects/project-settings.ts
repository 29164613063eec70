import { z } from 'zod';
import { EXECUTION_MODES } from '#platform/kernel';
import { defineAttributes, nullableText, storedAttribute, type AttributeValues } from '#api/json-api/rules';

const stacksMode = z.enum(['remote', 'agent']);

/** The settings of a project. If a default is null, the default of the organization applies. */
const settings = {
  autoDestroyActivityDuration: nullableText(255),
  defaultExecutionMode: {
    schema: z.enum(EXECUTION_MODES).nullable(),
    initial: null,
    body: z.enum(EXECUTION_MODES).nullish(),
  },
  defaultAgentPoolId: nullableText(255),
  stacksDefaultExecutionMode: {
    ...storedAttribute({ schema: stacksMode.nullable(), initial: null, body: stacksMode.nullish() }),
    since: 2,
  },
};

export const PROJECT_SETTINGS = defineAttributes(settings);
export type ProjectSettings = AttributeValues<typeof settings>;
