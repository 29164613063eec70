import { describeController, describePage, pageParameters, textParameter } from '#api/json-api/description';
import { AccessRowsController } from './access-rows.controller.js';

const ACCESS_ROWS = {
  name: 'Access rows',
  description: 'The access of all teams to the projects and workspaces of an organization.',
};

export const accessRowsOperations = describeController(AccessRowsController, ACCESS_ROWS, {
  list: {
    operationId: 'listAccessRows',
    summary: 'List the access of all teams to projects and workspaces',
    description:
      'Each project is followed by its workspaces. The access of teams to the whole organization is not listed here: teams show it.',
    query: {
      ...pageParameters(),
      q: textParameter('Only projects and workspaces with this text in their name, ignoring case.'),
      'filter[project][id]': textParameter('Only this project and its workspaces.'),
    },
    answer: describePage('AccessRow'),
  },
});
