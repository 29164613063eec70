import { describeController, describePage, pageParameters, textParameter } from '#api/json-api/description';
import { RESERVED_TAG_KEYS } from '../reserved-tag-keys/reserved-tag-keys.openapi.js';
import { TagComplianceGapsController } from './tag-compliance-gaps.controller.js';

export const tagComplianceGapsOperations = describeController(TagComplianceGapsController, RESERVED_TAG_KEYS, {
  list: {
    operationId: 'listTagComplianceGaps',
    summary: 'List the workspaces without a value for a reserved tag key',
    query: {
      ...pageParameters(),
      'filter[project][id]': textParameter('Only workspaces of this project.'),
      'filter[key]': textParameter(
        'Only workspaces without a value for this key. Their other missing keys are shown too.',
      ),
      'filter[proposed-key]': textParameter(
        'Only workspaces without a value for this key, which is not reserved yet. Send it before you reserve the key.',
      ),
    },
    answer: describePage('TagComplianceGap'),
  },
});
