import { z } from 'zod';
import {
  always,
  count,
  defineResource,
  describeController,
  exampleText,
  parameter,
  serverPath,
} from '#api/json-api/description';
import { WORKSPACES } from '../workspaces/workspaces.openapi.js';
import { TerraformVersionsController } from './terraform-versions.controller.js';

export const terraformVersionSchema = defineResource({
  name: 'TerraformVersion',
  type: 'terraform-versions',
  description: 'A release of Terraform or OpenTofu that workspaces may choose.',
  exampleId: 'tool-7d92573f62b0facb',
  attributes: {
    version: exampleText('1.16.5'),
    url: always(null),
    sha: always(null),
    archs: z
      .array(z.string())
      .max(0)
      .meta({ description: 'Always empty, because the server downloads no release.', examples: [[]] }),
    official: z.boolean().meta({ description: 'False if the setting `CADASTRE_TOOL_RELEASES` adds it.' }),
    enabled: always(true),
    beta: z.boolean().meta({ description: 'Whether it is a preview of a release.' }),
    deprecated: always(false),
    'deprecated-reason': always(null),
    usage: count('The number of workspaces whose version is exactly this release, not a constraint.'),
    'created-at': always(null),
  },
  links: { self: serverPath('/api/v2/admin/terraform-versions/tool-7d92573f62b0facb') },
});

export const terraformVersionsOperations = describeController(
  TerraformVersionsController,
  { ...WORKSPACES, resource: terraformVersionSchema },
  {
    list: {
      summary: 'List the releases of Terraform and OpenTofu that workspaces may choose',
      description:
        'The newest release comes first. The setting `CADASTRE_TOOL_RELEASES` adds releases; requests cannot change the list.',
      query: {
        'filter[version]': parameter.text('Only the release with exactly this version.'),
        'search[version]': parameter.text(
          'Only releases with this text in their version. Without effect beside `filter[version]`.',
        ),
      },
    },
    show: { summary: 'Show a release of Terraform or OpenTofu' },
  },
);
