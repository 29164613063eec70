import { z } from 'zod';
import { defineResource, exampleText, relatedAlways } from '#api/json-api/description';

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
  relationships: { workspace: relatedAlways('workspaces'), project: relatedAlways('projects') },
});
