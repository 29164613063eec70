import { z } from 'zod';
import {
  always,
  count,
  defineResource,
  exampleText,
  relatedAlways,
  relatedMany,
  relatedOne,
  serverPath,
  timestamp,
} from '#api/json-api/description';
import { STATE_VERSION_STATUSES } from './state-versions.queries.js';

const fileLink = (name: string, description: string) =>
  exampleText(`https://cadastre.example.com/api/v2/state-versions/${name}`)
    .nullable()
    .meta({ description, format: 'uri' });

/** Numbers of resources by a name and the type of the resource. */
const resourceCounts = (name: string, type: string) =>
  z
    .record(z.string(), z.record(z.string(), z.int()))
    .nullable()
    .meta({ examples: [{ [name]: { [type]: 2 } }] });

const resourceBlock = z.strictObject({
  name: exampleText('public'),
  type: exampleText('aws_subnet'),
  count: count('The number of instances.'),
  module: exampleText('root'),
  provider: exampleText('provider["registry.terraform.io/hashicorp/aws"]'),
});

const links = {
  'hosted-state-download-url': fileLink(
    'sv-8cGx3VnLq5TbRz7M/download',
    'The address of the state, which needs a token. Null unless the state is uploaded.',
  ),
  'hosted-json-state-download-url': fileLink(
    'sv-8cGx3VnLq5TbRz7M/json-download',
    'The address of the JSON form of the state, which needs a token. Null unless it is uploaded.',
  ),
  'hosted-state-upload-url': fileLink(
    'upload/TOKEN',
    'A signed link for the state. Null unless the version waits for it and you may upload it.',
  ).meta({ examples: [null] }),
  'hosted-json-state-upload-url': fileLink(
    'upload/TOKEN',
    'A signed link for the JSON form of the state. Null unless the version waits for the state and you may upload it.',
  ).meta({ examples: [null] }),
};

export const stateVersionSchema = defineResource({
  name: 'StateVersion',
  type: 'state-versions',
  description: 'A version of the state of a workspace.',
  exampleId: 'sv-8cGx3VnLq5TbRz7M',
  attributes: {
    ...links,
    'created-at': timestamp(),
    intermediate: z.boolean().meta({ description: 'Whether it becomes current only when the workspace is unlocked.' }),
    modules: resourceCounts('root', 'aws-subnet'),
    providers: resourceCounts('provider["registry.terraform.io/hashicorp/aws"]', 'aws-subnet'),
    resources: z.array(resourceBlock).nullable().meta({
      description:
        'The resource blocks. Null if the state is not uploaded, or if the list is too long for the document.',
    }),
    'resources-processed': z.boolean().meta({ description: 'Whether the state is uploaded.', examples: [true] }),
    serial: z.int().min(0),
    size: z
      .int()
      .min(0)
      .nullable()
      .meta({ description: 'The bytes of the state.', examples: [4096] }),
    'state-version': z
      .int()
      .min(1)
      .max(4)
      .nullable()
      .meta({ description: 'The version of the file format; null until the state is uploaded.', examples: [4] }),
    status: z.enum(STATE_VERSION_STATUSES).meta({ examples: ['finalized'] }),
    'terraform-version': exampleText('1.13.0').nullable(),
    'vcs-commit-sha': always(null),
    'vcs-commit-url': always(null),
  },
  relationships: {
    'created-by': relatedAlways('users', 'teams', 'runs'),
    outputs: relatedMany('state-version-outputs'),
    'rollback-state-version': relatedOne('state-versions'),
    run: relatedOne('runs'),
    workspace: relatedAlways('workspaces'),
  },
  links: { self: serverPath('/api/v2/state-versions/sv-8cGx3VnLq5TbRz7M') },
});
