import { z } from 'zod';
import type { DescribedOperation } from './described-operations.js';
import type { DescribedResources } from './documents.js';

/** Names of path parameters that are not ids, by the segment before them. */
const BY_NAME: Readonly<Record<string, { readonly description: string; readonly example: string }>> = {
  'organizations/:organization': { description: 'The name of the organization.', example: 'acme' },
  'workspaces/:name': { description: 'The name of the workspace.', example: 'network' },
};

/** The rest of a path, which can contain slashes. OpenAPI has no such parameters. */
const WILDCARD = '*';
const WILDCARD_NAME = 'path';

/** Path parameters whose collection differs from the type of its resources, by the collection. */
const TYPES: Readonly<Record<string, string>> = { 'reserved-tags': 'reserved-tag-keys' };

const toWords = (type: string): string => type.replace(/ies$/, 'y').replace(/s$/, '').replaceAll('-', ' ');

const describeParameter = (
  segment: string,
  name: string,
  { description: { path } }: DescribedOperation,
  resources: DescribedResources,
) => {
  const own = path?.[name] ?? BY_NAME[`${segment}/:${name}`];
  if (own) return own;
  const type = TYPES[segment] ?? segment;
  const resource = [...resources.values()].find((each) => each.type === type);
  return { description: `The id of the ${toWords(type)}.`, example: resource?.exampleId };
};

/** Returns the schemas of the parameters in the path. */
export const buildPathParameters = (operation: DescribedOperation, resources: DescribedResources): z.ZodObject => {
  const segments = operation.route.path.split('/');
  const parameters = segments.flatMap((segment, index) => {
    const name = segment === WILDCARD ? WILDCARD_NAME : segment.slice(1);
    if (!segment.startsWith(':') && segment !== WILDCARD) return [];
    const { description, example } = describeParameter(segments[index - 1] ?? '', name, operation, resources);
    return [
      [name, z.string().meta({ description, ...(example === undefined ? {} : { examples: [example] }) })] as const,
    ];
  });
  return z.object(Object.fromEntries(parameters));
};

/** Converts `/workspaces/:id` to `/workspaces/{id}`, and `/app/*` to `/app/{path}`. */
export const toTemplate = (path: string): string =>
  path.replaceAll(/:(\w+)/g, '{$1}').replace(/\*$/, `{${WILDCARD_NAME}}`);
