import {
  describeController,
  describeDocument,
  describePage,
  pageParameters,
  textParameter,
} from '#api/json-api/description';
import { TerraformVersionsController } from './terraform-versions.controller.js';
import { WORKSPACES } from '../workspaces/workspaces.openapi.js';

export const terraformVersionsOperations = describeController(TerraformVersionsController, WORKSPACES, {
  list: {
    operationId: 'listTerraformVersions',
    summary: 'List the releases of Terraform and OpenTofu that workspaces may choose',
    description:
      'The newest release comes first. The setting `CADASTRE_TOOL_RELEASES` adds releases; requests cannot change the list.',
    query: {
      ...pageParameters(),
      'filter[version]': textParameter('Only the release with exactly this version.'),
      'search[version]': textParameter(
        'Only releases with this text in their version. Without effect beside `filter[version]`.',
      ),
    },
    answer: describePage('TerraformVersion'),
  },
  show: {
    operationId: 'getTerraformVersion',
    summary: 'Show a release of Terraform or OpenTofu',
    answer: describeDocument('TerraformVersion'),
  },
});
