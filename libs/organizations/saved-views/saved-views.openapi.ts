import {
  describeBody,
  describeController,
  describeDocument,
  describeEmpty,
  describePage,
  pageParameters,
} from '#api/json-api/description';
import { createBody, SavedViewsController, updateBody } from './saved-views.controller.js';

const SAVED_VIEWS = {
  name: 'Saved views',
  description:
    'An extension of Cadastre. Filters, order and columns of the list of workspaces that people save under a name, for themselves or for the organization.',
};

const refusals = {
  unprocessable:
    'The name is blank, too long or taken by another of your views, the query is not the query of an address or too long, or you have 100 views in the organization.',
};

export const savedViewsOperations = describeController(SavedViewsController, SAVED_VIEWS, {
  list: {
    operationId: 'listSavedViews',
    summary: 'List your saved views of an organization and the shared ones',
    query: pageParameters(),
    answer: describePage('SavedView'),
  },
  create: {
    operationId: 'createSavedView',
    summary: 'Save a view',
    description:
      'Only people can save views, not teams and organizations. Names are unique among the views of a person.',
    body: describeBody(createBody, {
      data: { type: 'saved-views', attributes: { name: 'Production', query: 'tags=env%3Aprod', shared: true } },
    }),
    answer: describeDocument('SavedView'),
    refusals,
  },
  show: {
    operationId: 'getSavedView',
    summary: 'Show a saved view',
    answer: describeDocument('SavedView'),
  },
  update: {
    operationId: 'updateSavedView',
    summary: 'Rename, replace, share or unshare a saved view',
    description: 'Only the person who saved the view can change it.',
    body: describeBody(updateBody, { data: { type: 'saved-views', attributes: { query: 'sort=-name' } } }),
    answer: describeDocument('SavedView'),
    refusals,
  },
  destroy: {
    operationId: 'deleteSavedView',
    summary: 'Delete a saved view',
    description: 'The person who saved it can delete it, and owners of the organization if it is shared.',
    answer: describeEmpty(),
  },
});
