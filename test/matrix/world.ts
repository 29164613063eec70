import { createTestSession } from '../support/sessions.js';
import { ensureUser, issueUserToken } from '#identity/people';
import { RECENT_SIGN_IN_MS } from '#api/access';
import { toAttributes } from '#api/json-api';
import { AdjustableClock } from '../support/clocks.js';
import { expectStatus, makeAgentToken, makeMember, makeTeam, makeToken, resource } from '../support/seeds.js';
import { REACHES_GIT_HOSTS } from '../support/git-host.js';
import {
  startTestServer,
  type ServerData,
  type TestCredential,
  type TestServer,
  type TestServerOptions,
} from '../support/server.js';
import { CALLERS, type MatrixCaller } from './callers.js';
import {
  grantAccess,
  setUpSharedWorld,
  makeRunToken,
  type MatrixCallerInWorld,
  type SharedWorld,
  type MatrixWorld,
} from './shared-world.js';
import { registerAgent } from './targets.js';
import { TOKEN_OWNERS } from './token-owners.js';

/** Properties of a caller that exist after its creation. */
type Arrival = Pick<MatrixCallerInWorld, 'id' | 'membership' | 'team'> & { readonly credential: TestCredential };

const NOBODY = { membership: '', team: '' };

/** Teams are secret by default, so that callers cannot see the teams of other callers without the permission. */
const teamFor = async (
  caller: MatrixCaller,
  name: string,
  { server, acme, one, land }: SharedWorld,
): Promise<string> => {
  const access = toAttributes(caller.access ?? {});
  const team = await makeTeam(server, acme.name, name, { 'organization-access': access });
  if (caller.setup) await grantAccess(server, team, caller.setup, caller.setup.on === 'workspace' ? one : land);
  return team;
};

/** Invites as an owner, not as an administrator of the site, so that the user has to accept. */
const invite = async (land: SharedWorld, name: string, team: string): Promise<Arrival> => {
  const { server, acme } = land;
  const owners = await ownersToken(land);
  const body = resource(
    'organization-memberships',
    { email: `${name}@people.test` },
    { teams: { data: [{ type: 'teams', id: team }] } },
  );
  const path = `/api/v2/organizations/${acme.name}/organization-memberships`;
  const { id: membership } = expectStatus(await server.as(owners).post(path, body), 201).body.data;
  // The inviter does not see the account. An administrator of the site does.
  const membershipDocument = expectStatus(await server.get(`/api/v2/organization-memberships/${membership}`), 200).body
    .data;
  const id = membershipDocument.relationships.user.data.id as string;
  const credential = await makeToken(server, `/api/v2/users/${id}/authentication-tokens`);
  return { credential, id, membership, team };
};

const ownersToken = async ({ server, acme, unique }: SharedWorld): Promise<string> => {
  const path = `/api/v2/teams/${acme.ownersTeam}/authentication-tokens`;
  const body = resource('authentication-tokens', { description: unique('token') });
  return expectStatus(await server.post(path, body), 201).body.data.attributes.token as string;
};

const siteAdmin = async (name: string, { server }: SharedWorld): Promise<Arrival> => {
  const { runtime, store } = server;
  const { id } = await ensureUser(store, runtime.ids, name, true);
  return { ...NOBODY, credential: await issueUserToken(store, runtime.ids, id, 'for the matrix'), id };
};

const personIn = async (caller: MatrixCaller, name: string, land: SharedWorld): Promise<Arrival> => {
  const { server, acme, rival } = land;
  if (caller.siteAdmin) return siteAdmin(name, land);
  if (caller.invited) return invite(land, name, await teamFor(caller, name, land));
  const [organization, team] = caller.foreign
    ? [rival.name, rival.ownersTeam]
    : [acme.name, isOwner(caller) ? acme.ownersTeam : await teamFor(caller, name, land)];
  const { id, membership, token } = await makeMember(server, organization, name, [team]);
  return { credential: caller.session ? await createTestSession(server, id) : token, id, membership, team };
};

const isOwner = ({ roles }: MatrixCaller): boolean => roles.includes('owner');

const teamIn = async (caller: MatrixCaller, name: string, land: SharedWorld): Promise<Arrival> => {
  const { server, acme } = land;
  if (isOwner(caller)) {
    return { ...NOBODY, credential: await ownersToken(land), id: acme.ownersTeam, team: acme.ownersTeam };
  }
  const team = await teamFor(caller, name, land);
  const credential = await makeToken(server, `/api/v2/teams/${team}/authentication-token`);
  return { ...NOBODY, credential, id: team, team };
};

const organizationIn = async ({ authentication }: MatrixCaller, { server, acme }: SharedWorld): Promise<Arrival> => {
  const kind = authentication === 'audit-trails' ? '?token=audit-trails' : '';
  const path = `/api/v2/organizations/${acme.name}/authentication-token${kind}`;
  return { ...NOBODY, credential: await makeToken(server, path), id: acme.id };
};

const agentIn = async ({ siteAgent }: MatrixCaller, { server, pool, sitePool }: SharedWorld): Promise<Arrival> => {
  const id = siteAgent ? sitePool : pool;
  return { ...NOBODY, credential: await makeAgentToken(server, id), id };
};

const RUNS = { own: 'run', consumer: 'runBeside', stranger: 'runFar' } as const;

const runIn = async ({ run = 'stranger' }: MatrixCaller, land: SharedWorld): Promise<Arrival> => {
  const id = land.resources[RUNS[run]];
  return { ...NOBODY, credential: await makeRunToken(id, land), id };
};

const createScimCaller = async (name: string, { server }: SharedWorld): Promise<Arrival> => {
  const body = resource('authentication-tokens', { description: name });
  const { id, attributes } = expectStatus(await server.post('/api/v2/admin/scim-tokens', body), 201).body.data;
  return { ...NOBODY, credential: attributes.token as string, id: id as string };
};

/** Creates a user whose token is missing, wrong, expired or revoked. */
const createInvalidCaller = async (
  kind: MatrixCaller['authentication'],
  clock: AdjustableClock,
  { server }: SharedWorld,
): Promise<Arrival> => {
  const { runtime, store } = server;
  const { id } = await ensureUser(store, runtime.ids, kind.replaceAll(' ', '-'), true);
  if (kind === 'without a token') return { ...NOBODY, credential: null, id };
  if (kind === 'with a wrong token') return { ...NOBODY, credential: 'wrong.atlasv1.wrong', id };
  const end = new Date(clock.now().getTime() + 60_000).toISOString();
  const attributes = kind === 'with an expired token' ? { 'expired-at': end } : {};
  const path = `/api/v2/users/${id}/authentication-tokens`;
  const token = expectStatus(await server.post(path, resource('authentication-tokens', attributes)), 201).body.data;
  const credential = token.attributes.token as string;
  expectStatus(await server.as(credential).get('/api/v2/account/details'), 200);
  if (kind === 'with a revoked token')
    expectStatus(await server.delete(`/api/v2/authentication-tokens/${token.id as string}`), 204);
  return { ...NOBODY, credential, id };
};

const arrive = (caller: MatrixCaller, name: string, clock: AdjustableClock, land: SharedWorld): Promise<Arrival> => {
  switch (caller.authentication) {
    case 'user':
      return personIn(caller, name, land);
    case 'team':
      return teamIn(caller, name, land);
    case 'organization':
    case 'audit-trails':
      return organizationIn(caller, land);
    case 'agent':
      return agentIn(caller, land);
    case 'run':
      return runIn(caller, land);
    case 'scim':
      return createScimCaller(name, land);
    case 'without a token':
    case 'with a wrong token':
    case 'with an expired token':
    case 'with a revoked token':
      return createInvalidCaller(caller.authentication, clock, land);
  }
};

/** Creates one token for each kind of owner. No caller uses them. */
const createOwnerTokens = async (world: MatrixWorld): Promise<MatrixWorld['tokens']> => {
  const body = resource('authentication-tokens', { description: 'stays' });
  const creations = TOKEN_OWNERS.map(async ({ condition, path, by }) => {
    const { id } = expectStatus(await (by?.(world) ?? world.server).post(`/api/v2/${path(world)}`, body), 201).body
      .data;
    return [condition, id as string] as const;
  });
  return Object.fromEntries(await Promise.all(creations));
};

type KeptCaller = MatrixCallerInWorld & Arrival;

type KeptWorld = {
  readonly world: Omit<MatrixWorld, 'callers'> & { readonly callers: readonly KeptCaller[] };
  readonly data: ServerData;
  readonly offsetMs: number;
};

const createCallers = async (server: TestServer, clock: AdjustableClock): Promise<KeptWorld['world']> => {
  const land = await setUpSharedWorld(server);
  const callers: KeptCaller[] = [];
  for (const [index, caller] of CALLERS.entries()) {
    const short = `caller-${index}`;
    const arrival = await arrive(caller, short, clock, land);
    callers.push({ ...caller, short, ...arrival, api: server.as(arrival.credential) });
  }
  const pass = (ms: number): void => clock.pass({ ms });
  // Lets the token with an expiry expire.
  pass(120_000);
  const peopled = { ...land, callers, tokens: {}, agent: '', pass };
  return { ...peopled, tokens: await createOwnerTokens(peopled), agent: await registerAgent(peopled) };
};

const createWorld = async (): Promise<KeptWorld> => {
  const clock = new AdjustableClock();
  const server = await startTestServer({ clock, followers: true, env: REACHES_GIT_HOSTS });
  const world = await createCallers(server, clock);
  return { world, data: await server.stop(), offsetMs: clock.offsetMs };
};

/** A world serves files that start within this time: callers with a session must have signed in lately. */
const MAX_AGE_MS = RECENT_SIGN_IN_MS / 3;

let keptWorld: { readonly world: Promise<KeptWorld>; readonly until: number } | null = null;

/**
 * Starts a server with all callers. A worker creates them once for several files, and each file gets a copy: the 450 requests
 * of the creation take several seconds.
 */
export const startMatrixWorld = async (options: Pick<TestServerOptions, 'env'> = {}): Promise<MatrixWorld> => {
  if (keptWorld === null || Date.now() > keptWorld.until)
    keptWorld = { world: createWorld(), until: Date.now() + MAX_AGE_MS };
  const { world, data, offsetMs } = await keptWorld.world;
  const clock = new AdjustableClock();
  const pass = (ms: number): void => clock.pass({ ms });
  pass(offsetMs);
  const env = { ...REACHES_GIT_HOSTS, ...options.env };
  const server = await startTestServer({ clock, followers: true, copyOf: data, env });
  const callers = world.callers.map((caller) => ({ ...caller, api: server.as(caller.credential) }));
  return { ...world, server, callers, pass };
};
