import { z } from 'zod';
import { always, count, defineResource, exampleText, serverPath } from '#api/json-api/description';

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
