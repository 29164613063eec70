import { z } from 'zod';
import {
  defineResource,
  exampleText,
  permissionFlags,
  relatedAlways,
  serverPath,
  timestamp,
} from '#api/json-api/description';

export const savedViewSchema = defineResource({
  name: 'SavedView',
  type: 'saved-views',
  description:
    'An extension of Cadastre: filters, order and columns of the list of workspaces in the console, under a name. Private views are visible only to the user who saved them.',
  exampleId: 'sview-5kTn2WqZr8LcXbJd',
  attributes: {
    'created-at': timestamp(),
    name: exampleText('Production without an owner'),
    permissions: permissionFlags('can-update', 'can-destroy'),
    query: exampleText('tags=env%3Aprod&gaps=true&sort=-latest-change-at', 'The query of the address of the list.'),
    shared: z.boolean().meta({ description: 'Whether all members of the organization can see it.' }),
    'updated-at': timestamp(),
  },
  relationships: { 'created-by': relatedAlways('users') },
  links: { self: serverPath('/api/v2/saved-views/sview-5kTn2WqZr8LcXbJd') },
});
