import { z } from 'zod';
import { unprocessable, type Tag } from '#platform/kernel';
import {
  strictObject,
  omitUndefined,
  ignoredMember,
  unsupportedMember,
  resourceBody,
  text,
  toOneInput,
  parseToOne,
} from '#api/json-api';
import { toBindings, tagBindingsInput } from '#organizations/tag-bindings';
import type { ProjectInput } from './project.js';
import { PROJECT_SETTINGS } from './project-settings.js';

const NO_STACKS = 'stacks are not built';

/** Clients know each flag by two names, with and without `default-`. */
const overwrites = strictObject({
  'default-execution-mode': z.boolean().nullish(),
  'execution-mode': z.boolean().nullish(),
  'default-agent-pool': z.boolean().nullish(),
  'agent-pool': z.boolean().nullish(),
  'stacks-default-execution-mode': ignoredMember(NO_STACKS),
  'stacks-default-agent-pool': ignoredMember(NO_STACKS),
});

const settings = {
  description: text(10_000).nullish(),
  ...PROJECT_SETTINGS.body,
  'setting-overwrites': overwrites.nullish(),
};
const relationships = z
  .object({
    'default-agent-pool': toOneInput,
    'stacks-default-agent-pool': unsupportedMember(NO_STACKS),
    'tag-bindings': tagBindingsInput,
  })
  .optional();

export const createBody = resourceBody('projects', z.object({ name: z.string(), ...settings }), relationships);
export const updateBody = resourceBody(
  'projects',
  z.object({ name: z.string().optional(), ...settings }).default({}),
  relationships,
);

type ProjectUpdateData = z.infer<typeof updateBody>['data'];

/** Returns whether the project follows the organization. The flags of mode and pool must not contradict each other. */
const toFollows = (input: z.infer<typeof overwrites> | null | undefined): boolean | undefined => {
  const mode = input?.['default-execution-mode'] ?? input?.['execution-mode'];
  const pool = input?.['default-agent-pool'] ?? input?.['agent-pool'];
  if (typeof mode === 'boolean' && typeof pool === 'boolean' && mode !== pool) {
    // Text of the vendor.
    throw unprocessable(
      'If agent-pool and execution-mode are both included in setting-overwrites, their values must be the same.',
      'setting-overwrites',
    );
  }
  return typeof mode === 'boolean' ? !mode : undefined;
};

/** Returns the bindings that replace all present ones; absent if the request does not change them. */
export const toProjectBindings = ({
  relationships: related,
}: ProjectUpdateData): { readonly bindings?: readonly Tag[] } => {
  const bindings = toBindings(related?.['tag-bindings']);
  return bindings ? { bindings } : {};
};

export const toProjectInput = ({ attributes, relationships: related }: ProjectUpdateData): ProjectInput => {
  const { name, description, 'default-agent-pool-id': id, 'setting-overwrites': flags } = attributes;
  const pool = parseToOne(related?.['default-agent-pool'], id);
  return {
    ...omitUndefined({ name, description }),
    ...PROJECT_SETTINGS.read(attributes),
    ...omitUndefined({ defaultAgentPoolId: pool, follows: toFollows(flags) }),
  };
};
