import type { ApiTestClient } from '../support/server.js';
import {
  agentPool,
  inAcme,
  openTeam,
  ownersTeam,
  person,
  plainMember,
  remotePool,
  site,
  sitePool,
  theAgent,
  createTarget,
} from './targets.js';
import type { ExpectedAccess, MatrixTarget } from './matrix.js';
import type { MatrixWorld } from './shared-world.js';

type MatrixTokenOwner = {
  readonly condition: string;
  readonly of: MatrixTarget;
  readonly path: (world: MatrixWorld) => string;
  /** Returns the client that creates the token. The default is the administrator of the site. */
  readonly by?: (world: MatrixWorld) => ApiTestClient;
  readonly demands: readonly ExpectedAccess[];
};

/** Owners of the tokens that rows read and delete by id. */
export const TOKEN_OWNERS: readonly MatrixTokenOwner[] = [
  {
    condition: 'of a user',
    of: person,
    path: (world) => `users/${plainMember(world).id}/authentication-tokens`,
    demands: ['manage-user-tokens'],
  },
  {
    condition: 'of an open team',
    of: openTeam,
    path: ({ openTeam: id }) => `teams/${id}/authentication-tokens`,
    demands: ['read-teams', 'manage-team-tokens'],
  },
  {
    condition: 'of the owners',
    of: ownersTeam,
    path: ({ acme }) => `teams/${acme.ownersTeam}/authentication-tokens`,
    demands: ['read-teams', 'manage-owners'],
  },
  {
    condition: 'of an agent pool',
    of: agentPool,
    path: ({ pool }) => `agent-pools/${pool}/authentication-tokens`,
    demands: ['manage-agent-tokens'],
  },
  {
    condition: 'of a pool for remote runs',
    of: remotePool,
    path: ({ remotePool: id }) => `agent-pools/${id}/authentication-tokens`,
    demands: ['manage-agent-tokens', 'manage-remote-agent-pools'],
  },
  {
    condition: 'of a pool of the site',
    of: sitePool,
    path: ({ sitePool: id }) => `agent-pools/${id}/authentication-tokens`,
    demands: ['manage-agent-tokens', 'manage-remote-agent-pools'],
  },
  {
    condition: 'for SCIM',
    of: site,
    path: () => 'admin/scim-tokens',
    demands: ['manage-scim-tokens'],
  },
  {
    condition: 'of a run',
    of: createTarget(inAcme, 'run'),
    path: ({ resources }) => `runs/${resources.run}/authentication-tokens`,
    by: (world) => theAgent(world).api,
    demands: ['manage-agent-tokens'],
  },
];

/** Conditions of tokens that belong to no organization, so that no trail of an organization records them. */
export const TOKENS_OF_SITE: readonly string[] = ['of a user', 'for SCIM', 'of a pool of the site'];
