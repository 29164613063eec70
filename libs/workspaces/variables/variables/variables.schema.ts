import { z } from 'zod';
import { defineResource, exampleText, relatedAlways, serverPath, timestamp } from '#api/json-api/description';

export const variableSchema = defineResource({
  name: 'Variable',
  type: 'vars',
  description: 'A Terraform variable or an environment variable of a workspace or of a variable set.',
  exampleId: 'var-6tWmZk3QhYs8XbNf',
  attributes: {
    key: exampleText('region'),
    value: exampleText('eu-central-1', 'Null if the variable is sensitive.').nullable(),
    description: exampleText('Where the networks are').nullable(),
    sensitive: z.boolean().meta({ description: 'Whether responses leave the value out.' }),
    category: z.enum(['terraform', 'env']),
    hcl: z.boolean().meta({ description: 'Whether the value is an HCL expression instead of a text.' }),
    'created-at': timestamp(),
    'version-id': exampleText('9e107d9d372bb6826bd81d3542a419d6', 'Differs after each update.'),
  },
  relationships: z
    .union([
      z.strictObject({ configurable: relatedAlways('workspaces') }),
      z.strictObject({ varset: relatedAlways('varsets') }),
    ])
    .meta({ description: 'The owner: a workspace (`configurable`) or a variable set (`varset`).' }),
  links: { self: serverPath('/api/v2/workspaces/ws-7hQ2vXbN4kTgYw3D/vars/var-6tWmZk3QhYs8XbNf') },
});
