import { publishedOrganizations, publishedProjects } from '#organizations';
import { publishedTeams } from '#people';
import { publishedRegistry } from '#registry';
import type { PublishedResource } from '#state-topics';
import { publishedBindings } from '#tag-bindings';
import { publishedReservedTagKeys } from '#tags';
import { publishedWorkspaces } from '#workspaces';

/** The resources whose latest documents are in state topics. */
export const publishedResources: readonly PublishedResource[] = [
  publishedOrganizations,
  publishedProjects,
  publishedTeams,
  publishedWorkspaces,
  publishedReservedTagKeys,
  ...publishedBindings,
  ...publishedRegistry,
];
