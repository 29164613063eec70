import { z } from 'zod';
import {
  count,
  defineResource,
  describeController,
  describeResourceBody,
  exampleText,
  parameter,
  serverPath,
} from '#api/json-api/description';
import { WORKSPACES } from '../workspaces/workspaces.openapi.js';
import { createBody, updateBody } from './terraform-versions.body.js';
import { TerraformVersionsController } from './terraform-versions.controller.js';

const ARCHIVE = {
  url: 'https://tools.example.com/terraform_1.16.5_linux_amd64.zip',
  sha: 'c6e5df76ba4d8e0ba0d9c5e0a1e2a2a4b2c3d4e5f60718293a4b5c6d7e8f9012',
  os: 'linux',
  arch: 'amd64',
} as const;

const archive = z.strictObject({
  url: exampleText(ARCHIVE.url),
  sha: exampleText(ARCHIVE.sha),
  os: exampleText(ARCHIVE.os),
  arch: exampleText(ARCHIVE.arch),
});

const DOWNLOAD = { url: ARCHIVE.url, sha: ARCHIVE.sha };
const IN_USE = 'The version is official, listed by the server, or in use.';

export const terraformVersionSchema = defineResource({
  name: 'TerraformVersion',
  type: 'terraform-versions',
  description: 'A release of Terraform or OpenTofu that workspaces may choose.',
  exampleId: 'tool-7d92573f62b0facb',
  attributes: {
    version: exampleText('1.16.5'),
    url: exampleText(ARCHIVE.url, 'The archive for Linux on amd64.').nullable(),
    sha: exampleText(ARCHIVE.sha, 'The SHA-256 checksum of that archive.').nullable(),
    archs: z.array(archive).meta({
      description:
        'The archives from which executors take the program, in the order of the request. Empty for the archives of the ' +
        'publisher, or of the mirror of the executor.',
    }),
    official: z.boolean().meta({ description: 'Whether it is a release of the publisher. It cannot be deleted.' }),
    enabled: z.boolean().meta({ description: 'Whether workspaces may choose it.' }),
    beta: z.boolean().meta({ description: 'Whether it is a preview of a release.' }),
    deprecated: z.boolean().meta({ description: 'Whether runs with it begin with a warning.' }),
    'deprecated-reason': exampleText('It has a known weakness.', 'The text of that warning.').nullable(),
    usage: count('The number of workspaces whose version is exactly this release, not a constraint.'),
    'created-at': exampleText('2026-10-05T09:30:00.000Z', 'Null for releases that the server lists.').nullable(),
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
        'The newest release comes first. The list has the releases that the server knows, those of the setting ' +
        '`CADASTRE_TOOL_RELEASES`, and those that administrators have added.',
      query: {
        'filter[version]': parameter.text('Only the release with exactly this version.'),
        'search[version]': parameter.text(
          'Only releases with this text in their version. Without effect beside `filter[version]`.',
        ),
      },
    },
    show: { summary: 'Show a release of Terraform or OpenTofu' },
    create: {
      summary: 'Add a release of Terraform or OpenTofu',
      description:
        'For releases that the server does not know, and for builds of your own. `url` and `sha` mean one archive for Linux on amd64.',
      body: describeResourceBody(createBody, { version: '1.16.6-acme.1', ...DOWNLOAD }),
      refusals: { unprocessable: 'An attribute is not valid, or the version exists.' },
      events: ['ToolVersionAdded'],
    },
    update: {
      summary: 'Change a release of Terraform or OpenTofu',
      description:
        'Workspaces cannot choose a release that is not enabled. Those that have it keep it. Constraints and `latest` resolve to ' +
        'enabled releases that are not beta.',
      body: describeResourceBody(updateBody, { deprecated: true, 'deprecated-reason': 'It has a known weakness.' }),
      events: ['ToolVersionChanged'],
    },
    destroy: {
      summary: 'Delete a release of Terraform or OpenTofu',
      refusals: { unprocessable: IN_USE },
      events: ['ToolVersionDeleted'],
    },
  },
);
