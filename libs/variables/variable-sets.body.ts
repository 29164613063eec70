import { z } from 'zod';
import { resourceBody, typeOf } from '#json-api';
import type { Kind, Targets } from './variable-set.js';
import type { NewVariable } from './variable.js';
import { newVariable } from './variables.body.js';

/** Each of them is held, or made, while the request is written. */
const LISTED_AT_MOST = 500;

const identifiers = (type: string) =>
  z
    .array(z.object({ type: typeOf(type), id: z.string() }))
    .max(LISTED_AT_MOST, { error: `too many, at most ${LISTED_AT_MOST} of them` });

export const targetsBody = (kind: Kind) => z.object({ data: identifiers(kind) });

/** Whole definitions make variables; mere identifiers are what a client has read and sends back. */
const listedVariable = z.union([
  z.object({ type: typeOf('vars'), id: z.undefined().optional(), attributes: newVariable }),
  z.object({ type: typeOf('vars'), id: z.string() }).transform(() => null),
]);

const relationships = z
  .object({
    workspaces: z.object({ data: identifiers('workspaces').nullish() }).optional(),
    projects: z.object({ data: identifiers('projects').nullish() }).optional(),
    vars: z.object({ data: z.array(listedVariable).max(LISTED_AT_MOST).nullish() }).optional(),
    parent: z
      .object({ data: z.object({ type: typeOf('organizations', 'projects'), id: z.string() }).nullish() })
      .optional(),
  })
  .optional();

const attributes = z.object({
  name: z.string(),
  description: z.string().nullish(),
  global: z.boolean().nullish(),
  priority: z.boolean().nullish(),
});

export const createBody = resourceBody('varsets', attributes, relationships);
export const updateBody = resourceBody('varsets', attributes.partial().default({}), relationships);

type Related = z.infer<typeof relationships>;

/** Lists that are given; `null` clears one like `[]`. */
export const targetsIn = (related: Related): Partial<Targets> => {
  const ids = (kind: Kind): readonly string[] | undefined =>
    related?.[kind]?.data === undefined ? undefined : (related[kind].data ?? []).map(({ id }) => id);
  const [workspaces, projects] = [ids('workspaces'), ids('projects')];
  return { ...(workspaces ? { workspaces } : {}), ...(projects ? { projects } : {}) };
};

export const variablesIn = (related: Related): NewVariable[] =>
  (related?.vars?.data ?? []).flatMap((listed) => (listed ? [listed.attributes] : []));

export const projectIn = (related: Related): string | null => {
  const parent = related?.parent?.data;
  return parent?.type === 'projects' ? parent.id : null;
};
