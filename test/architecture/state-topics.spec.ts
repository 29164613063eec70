import { describe, expect, it } from '@jest/globals';
import { moduleDefinitions } from '../../apps/modules.js';
import { publishedResources } from '../../apps/published-resources.js';
import { listChangingTypes } from '../../libs/api/state-topics/changing-events.js';

const projections = moduleDefinitions.flatMap((definition) => definition.projections);

/** The beginnings of the names of event types, and the stream of such an event. */
const STREAMS: readonly (readonly [prefix: string, stream: string])[] = [
  ['Workspace', 'ws-1'],
  ['RemoteState', 'ws-1'],
  ['StateVersion', 'ws-1'],
  ['ProjectT', 'prj-1'],
  ['Project', 'prj-1'],
  ['TeamProject', 'tprj-1'],
  ['Team', 'team-1'],
];

/** Returns an event with the ids that events of this type have. */
const createEvent = (type: string) => {
  const stream = STREAMS.find(([prefix]) => type.startsWith(prefix))?.[1] ?? 'other-1';
  const isOfWorkspace =
    stream === 'ws-1' || /^(?:Run|Assessment|ConfigurationVersion|Variable(?!Set)|DataRetention)/.test(type);
  const namesProject = /^(?:WorkspaceCreated|WorkspaceMoved|WorkspaceDeleted|WorkspaceRecovered|TeamProject)/.test(
    type,
  );
  return {
    type,
    stream,
    organization: 'org-1',
    workspace: isOfWorkspace ? 'ws-1' : null,
    projects: stream === 'prj-1' || namesProject ? ['prj-1'] : [],
    team: stream === 'team-1' ? stream : null,
    provider: type.startsWith('RegistryProvider') ? 'prov-1' : null,
    platform: /Platform|Binary/.test(type) ? 'provpltfrm-1' : null,
  };
};

/** Events that are rare, and whose number does not grow with the number of workspaces. */
const RARE =
  /^(?:Organization|SshKeyDeleted|ReservedTagKey|GpgKey|Membership|TeamDeleted|RegistryProvider(?:Created|TagsChanged|Deleted|Recovered|Purged|VersionDeleted))/;

describe('the events after which documents are read', () => {
  it.each(publishedResources.map((resource) => [resource.type, resource] as const))(
    'read all documents of an organization only if they are rare: %s',
    (_, resource) => {
      const types = [...listChangingTypes(resource, projections)];
      const wide = types.filter((type) => resource.findAffected(createEvent(type)).in === 'organization');
      expect(wide.filter((type) => !RARE.test(type))).toEqual([]);
      expect(types).toContain('OrganizationDeleted');
    },
  );
});
