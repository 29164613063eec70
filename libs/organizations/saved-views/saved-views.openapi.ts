import { z } from 'zod';
import {
  defineResource,
  describeController,
  describeResourceBody,
  exampleText,
  permissionFlags,
  related,
  timestamp,
} from '#api/json-api/description';
import { createBody, SavedViewsController, updateBody } from './saved-views.controller.js';

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
  relationships: { 'created-by': related.always('users') },
  hasSelfLink: true,
});

const SAVED_VIEWS = {
  name: 'Saved views',
  description:
    'An extension of Cadastre. Filters, order and columns of the list of workspaces that people save under a name, for themselves or for the organization.',
  resource: savedViewSchema,
};

const refusals = {
  unprocessable:
    'The name is blank, too long or taken by another of your views, the query is not the query of an address or too long, or you have 100 views in the organization.',
};

export const savedViewsOperations = describeController(SavedViewsController, SAVED_VIEWS, {
  list: { summary: 'List your saved views of an organization and the shared ones' },
  create: {
    summary: 'Save a view',
    description:
      'Only people can save views, not teams and organizations. Names are unique among the views of a person.',
    body: describeResourceBody(createBody, { name: 'Production', query: 'tags=env%3Aprod', shared: true }),
    refusals,
  },
  show: {},
  update: {
    summary: 'Rename, replace, share or unshare a saved view',
    description: 'Only the person who saved the view can change it.',
    body: describeResourceBody(updateBody, { query: 'sort=-name' }),
    refusals,
  },
  destroy: { description: 'The person who saved it can delete it, and owners of the organization if it is shared.' },
});
