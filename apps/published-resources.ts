import { publishedOrganizations, publishedProjects } from '#organizations/organizations';
import { publishedTeams } from '#identity/people';
import { publishedModules } from '#registry/modules';
import { publishedRegistry } from '#registry/registry';
import type { PublishedResource } from '#api/state-topics';
import { publishedBindings } from '#organizations/tag-bindings';
import { publishedReservedTagKeys } from '#workspaces/tags';
import { publishedWorkspaces } from '#workspaces/workspaces';

/** The resources whose latest documents are in state topics. */
export const publishedResources: readonly PublishedResource[] = [
  publishedOrganizations,
  publishedProjects,
  publishedTeams,
  publishedWorkspaces,
  publishedReservedTagKeys,
  ...publishedBindings,
  ...publishedRegistry,
  publishedModules,
];
