import { z } from 'zod';
import {
  defineResource,
  describeController,
  describeResourceBody,
  exampleText,
  serverPath,
} from '#api/json-api/description';
import { WORKSPACES } from '../workspaces/workspaces.openapi.js';
import { TerraformVersionsController } from './terraform-versions.controller.js';
import { terraformVersionBodies } from './tool-versions.body.js';
import {
  describeVersionAttributes,
  exampleArchive,
  VERSION_IN_USE,
  VERSION_NOT_VALID,
  VERSION_QUERY,
} from './tool-versions.openapi.js';

const EXAMPLE = { version: '1.16.5', url: 'https://tools.example.com/terraform_1.16.5_linux_amd64.zip' };

export const terraformVersionSchema = defineResource({
  name: 'TerraformVersion',
  type: 'terraform-versions',
  description: 'A release of Terraform or OpenTofu that workspaces may choose.',
  exampleId: 'tool-7d92573f62b0facb',
  attributes: {
    ...describeVersionAttributes(
      {
        example: EXAMPLE,
        archives:
          'The archives from which executors take the program, in the order of the request. If administrators have set none for a ' +
          'release that the server lists, these are the archives of its publisher for Linux. Executors with a mirror take them ' +
          'from there.',
        usage: 'The number of workspaces whose version is exactly this release, not a constraint.',
      },
      (sha) =>
        exampleText(
          sha,
          'The SHA-256 checksum. Null for an archive of the publisher: executors read it from the list that the publisher signs.',
        ).nullable(),
    ),
    enabled: z.boolean().meta({ description: 'Whether workspaces may choose it.' }),
    deprecated: z.boolean().meta({ description: 'Whether runs with it begin with a warning.' }),
    'deprecated-reason': exampleText('It has a known weakness.', 'The text of that warning.').nullable(),
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
      query: VERSION_QUERY,
    },
    show: { summary: 'Show a release of Terraform or OpenTofu' },
    create: {
      summary: 'Add a release of Terraform or OpenTofu',
      description:
        'For releases that the server does not know, and for builds of your own. `url` and `sha` mean one archive for Linux on amd64.',
      body: describeResourceBody(terraformVersionBodies.create, {
        version: '1.16.6-acme.1',
        ...exampleArchive(EXAMPLE.url),
      }),
      refusals: { unprocessable: VERSION_NOT_VALID },
      events: ['ToolVersionAdded'],
    },
    update: {
      summary: 'Change a release of Terraform or OpenTofu',
      description:
        'Workspaces cannot choose a release that is not enabled. Those that have it keep it. Constraints and `latest` resolve to ' +
        'enabled releases that are not beta. `url` or `sha` alone changes the archive for Linux on amd64, and keeps the others. ' +
        '`archs` can be those of the publisher, without checksums, which are shown if administrators have set none.',
      body: describeResourceBody(terraformVersionBodies.update, {
        deprecated: true,
        'deprecated-reason': 'It has a known weakness.',
      }),
      events: ['ToolVersionChanged'],
    },
    destroy: {
      summary: 'Delete a release of Terraform or OpenTofu',
      refusals: { unprocessable: VERSION_IN_USE },
      events: ['ToolVersionDeleted'],
    },
  },
);
