import { z } from 'zod';
import { describeController, describeDocument, textParameter } from '#api/json-api/description';
import { AccessExplanationsController } from './access-explanations.controller.js';
import { EXPLAINED_PERMISSIONS } from './explained-permissions.js';

const ACCESS_EXPLANATIONS = {
  name: 'Access explanations',
  description: 'Why a user or a team has a permission, step by step.',
};

export const accessExplanationsOperations = describeController(AccessExplanationsController, ACCESS_EXPLANATIONS, {
  explain: {
    operationId: 'explainAccess',
    summary: 'Explain why a user or a team has a permission',
    description:
      'Send `filter[user]` or `filter[team]`. Without a workspace and a project, the explanation is about the whole organization, or about every workspace or project of it: `permitted-on` says on how many the subject has the permission. Owners can have the access of everybody explained, and everybody their own.',
    query: {
      'filter[user]': textParameter('The id of a member.'),
      'filter[team]': textParameter('The id of a team.'),
      'filter[permission]': z.enum(EXPLAINED_PERMISSIONS).meta({ description: 'The permission.' }),
      'filter[workspace]': textParameter('The id of a workspace.'),
      'filter[project]': textParameter('The id of a project.'),
    },
    answer: describeDocument('AccessExplanation'),
  },
});
