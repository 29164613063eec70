import {
  defineResource,
  describeController,
  describeResourceBody,
  exampleText,
  serverPath,
} from '#api/json-api/description';
import { WORKSPACES } from '../workspaces/workspaces.openapi.js';
import { OpaVersionsController } from './opa-versions.controller.js';
import { opaVersionBodies } from './tool-versions.body.js';
import {
  describeVersionAttributes,
  exampleArchive,
  VERSION_IN_USE,
  VERSION_NOT_VALID,
  VERSION_QUERY,
} from './tool-versions.openapi.js';

const EXAMPLE = { version: '1.19.1', url: 'https://tools.example.com/opa_linux_amd64_static' };

export const opaVersionSchema = defineResource({
  name: 'OpaVersion',
  type: 'opa-versions',
  description: 'A release of the Open Policy Agent (OPA), for policies.',
  exampleId: 'tool-0b1d4f7a9c2e5836',
  attributes: describeVersionAttributes(
    {
      example: EXAMPLE,
      archives: 'The programs, in the order of the request. Each is the program itself, without a zip file around it.',
      usage: 'Always 0: this server has no policies that name a version.',
    },
    (sha) => exampleText(sha, 'The SHA-256 checksum of the program.'),
  ),
  links: { self: serverPath('/api/v2/admin/opa-versions/tool-0b1d4f7a9c2e5836') },
});

export const opaVersionsOperations = describeController(
  OpaVersionsController,
  { ...WORKSPACES, resource: opaVersionSchema },
  {
    list: {
      summary: 'List the releases of OPA',
      description:
        'The newest release comes first. The list has the releases that the server knows, and those that administrators have added.',
      query: VERSION_QUERY,
    },
    show: { summary: 'Show a release of OPA' },
    create: {
      summary: 'Add a release of OPA',
      description:
        'For releases that the server does not know, and for builds of your own. `url` and `sha` mean one program for Linux on amd64. ' +
        'At least one program is required.',
      body: describeResourceBody(opaVersionBodies.create, { version: '1.20.0-acme.1', ...exampleArchive(EXAMPLE.url) }),
      refusals: { unprocessable: VERSION_NOT_VALID },
      events: ['OpaVersionAdded'],
    },
    update: {
      summary: 'Change a release of OPA',
      description: '`url` or `sha` alone changes the program for Linux on amd64, and keeps the others.',
      body: describeResourceBody(opaVersionBodies.update, {
        deprecated: true,
        'deprecated-reason': 'It has a known weakness.',
      }),
      events: ['OpaVersionChanged'],
    },
    destroy: {
      summary: 'Delete a release of OPA',
      refusals: { unprocessable: VERSION_IN_USE },
      events: ['OpaVersionDeleted'],
    },
  },
);
