import { z } from 'zod';
import { defineResource, describeController, exampleText, parameter, related } from '#api/json-api/description';
import { RESERVED_TAG_KEYS } from '../reserved-tag-keys/reserved-tag-keys.openapi.js';
import { TagComplianceGapsController } from './tag-compliance-gaps.controller.js';

export const tagComplianceGapSchema = defineResource({
  name: 'TagComplianceGap',
  type: 'tag-compliance-gaps',
  description: 'A workspace that has no value for a reserved tag key. It has the id of the workspace.',
  exampleId: 'ws-7hQ2vXbN4kTgYw3D',
  attributes: {
    'workspace-name': exampleText('network'),
    'project-name': exampleText('Default Project'),
    'missing-keys': z.array(exampleText('cost-center')),
  },
  relationships: { workspace: related.always('workspaces'), project: related.always('projects') },
});

export const tagComplianceGapsOperations = describeController(
  TagComplianceGapsController,
  { ...RESERVED_TAG_KEYS, resource: tagComplianceGapSchema },
  {
    list: {
      summary: 'List the workspaces without a value for a reserved tag key',
      query: {
        'filter[project][id]': parameter.text('Only workspaces of this project.'),
        'filter[key]': parameter.text(
          'Only workspaces without a value for this key. Their other missing keys are shown too.',
        ),
        'filter[proposed-key]': parameter.text(
          'Only workspaces without a value for this key, which is not reserved yet. Send it before you reserve the key.',
        ),
      },
    },
  },
);
