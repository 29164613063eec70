import { expect } from '@jest/globals';
import { sql } from '#kernel';
import { waitForFollowers } from '../support/event-log.js';
import { FixedClock } from '../support/clocks.js';
import {
  expectStatus,
  grantWorkspaceAccess,
  makeRemotePool,
  makeAgentToken,
  makeConfigurationVersion,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeTeam,
  makeToken,
} from '../support/seeds.js';
import { startTestServer, type ApiResponse, type ApiTestClient, type TestServer } from '../support/server.js';
import { pathOf, stateFile, type TestStateFile } from '../support/state-file.js';
import {
  ModelRefusal,
  WorkspaceModel,
  type LifeCaller,
  type ModelUser,
  type ModelRole,
  type ModelRun,
  type ModelStateVersion,
} from './workspace-model.js';

export type ModelFile = TestStateFile & { readonly resources: number };
export type ModelledWorkspace = WorkspaceModel<ModelFile>;
export type ActingCaller = LifeCaller & { readonly api: ApiTestClient };
export type CallerName = ModelRole | 'holder';

/** As the trail names who reports of runs: by what their token is for (makeAgentToken). */
export const EXECUTOR = 'for an agent';

/** An organization with everybody who has something to do with the workspace, on a clock that stands. */
export class Acme {
  private constructor(
    readonly server: TestServer,
    readonly clock: FixedClock,
    private readonly people: ReadonlyMap<ModelRole, ActingCaller>,
    private readonly grants: readonly (readonly [team: string, level: string])[],
    readonly agents: ApiTestClient,
    private readonly auditor: ApiTestClient,
  ) {}

  static async founded(): Promise<Acme> {
    const clock = new FixedClock();
    const server = await startTestServer({ followers: true, clock });
    const { ownersTeam } = await makeOrganization(server, 'acme');
    const people = new Map<ModelRole, ActingCaller>();
    const grants: [string, string][] = [];
    const admit = async (role: ModelRole, team: string): Promise<void> => {
      const { id, username, token } = await makeMember(server, 'acme', role, [team]);
      people.set(role, { role, person: { type: 'users', id, name: username }, api: server.as(token) });
    };
    await admit('owner', ownersTeam);
    for (const [role, level] of [
      ['admin', 'admin'],
      ['writer', 'write'],
      ['reader', 'read'],
    ] as const) {
      const team = await makeTeam(server, 'acme', `${role}s`);
      grants.push([team, level]);
      await admit(role, team);
    }
    // Visible: callers that cannot see a team get no name of it in a lock's refusal.
    const crew = await makeTeam(server, 'acme', 'crew', { visibility: 'organization' });
    grants.push([crew, 'write']);
    const token = await makeToken(server, `/api/v2/teams/${crew}/authentication-token`);
    people.set('team', { role: 'team', person: { type: 'teams', id: crew, name: 'crew' }, api: server.as(token) });
    const agents = server.as(await makeAgentToken(server, await makeRemotePool(server, 'acme', 'edge')));
    const auditor = server.as(await makeOrganizationToken(server, 'acme'));
    return new Acme(server, clock, people, grants, agents, auditor);
  }

  person(role: ModelRole): ActingCaller {
    const found = this.people.get(role);
    if (!found) throw new Error(`nobody is ${role}`);
    return found;
  }

  roleOf(person: ModelUser): ModelRole {
    return [...this.people.values()].find(({ person: { id } }) => id === person.id)?.role ?? 'run';
  }

  async giveAccess(workspace: string): Promise<void> {
    for (const [team, level] of this.grants) await grantWorkspaceAccess(this.server, team, workspace, level);
  }

  /** Nothing else happens at the time at which the clock stands. */
  async listEvents(): Promise<string[]> {
    const rows = await this.server.database.rows<{ type: string }>(
      sql`select type from event_store.events where time = ${this.clock.now().toISOString()} order by position`,
    );
    return rows.map(({ type }) => type);
  }

  async listTrailEntries(): Promise<string[]> {
    const before = new Date(this.clock.now().getTime() - 1).toISOString();
    const { body } = expectStatus(await this.auditor.get(`/api/v2/organization/audit-trail?since=${before}`), 200);
    return (body.data as any[])
      .toReversed()
      .map(({ resource: { type, action }, auth }) => `${type} ${action} by ${auth.description}`);
  }
}

/** How the workspace was shown to its owner at a time; null where there was none. */
export type ReturnedWorkspace = {
  readonly at: string;
  readonly id: string;
  readonly name: string;
  readonly document: object | null;
};

/** Permissions are those of whoever asks, when they ask. */
export const plain = (data: any): object => ({ ...data, attributes: { ...data.attributes, permissions: null } });

/** What the fields of a history are until it names them. */
const UNNAMED = {
  description: null,
  'locked-by': null,
  'locked-reason': null,
  'current-state-version': null,
  'current-run': null,
};

const expectSame = (told: unknown, expected: unknown): void => expect(told).toEqual(expected);

const expectAtLeast = (told: object, expected: object): void => expect(told).toMatchObject(expected);

const expectAnswer = (
  { status, text }: ApiResponse,
  expected: { readonly status: number; readonly detail: string },
): void =>
  expect({ status, text }).toEqual({ status: expected.status, text: expect.stringContaining(expected.detail) });

/** Where the file of a version is wanted. Its workspace may be gone by then, and another one there under the name. */
type Announced = {
  readonly version: ModelStateVersion<ModelFile>;
  readonly link: string;
  readonly life: ModelledWorkspace;
};

/** A workspace on the server, beside what the model says of it. When it is gone another one may come under its name. */
export class WorkspaceTestWorld {
  readonly returnedWorkspaces: ReturnedWorkspace[] = [];
  private readonly tokens = new Map<ModelRun, string>();
  /** Where versions are to be uploaded to that came without their files. */
  private readonly links = new Map<ModelStateVersion<ModelFile>, Announced>();
  private serial = 0;

  private constructor(
    readonly acme: Acme,
    public life: ModelledWorkspace,
  ) {}

  static named(acme: Acme, name: string): WorkspaceTestWorld {
    return new WorkspaceTestWorld(acme, new WorkspaceModel<ModelFile>('', name));
  }

  path(rest = ''): string {
    return `/api/v2/workspaces/${this.life.id}${rest}`;
  }

  /** Null where it would be a run, and there has been none. */
  acting(who: CallerName): ActingCaller | null {
    const { lock, runs } = this.life;
    const role = who === 'holder' ? (lock ? this.acme.roleOf(lock.holder) : 'writer') : who;
    if (role !== 'run') return this.acme.person(role);
    const run = runs.find(({ id }) => id === lock?.holder.id) ?? runs.at(-1);
    const token = run && this.tokens.get(run);
    if (!run || token === undefined) return null;
    return { role, run, person: { type: 'runs', id: run.id, name: run.id }, api: this.acme.server.as(token) };
  }

  file(kind: 'next' | 'stale' | 'again' | 'foreign', resources: number): ModelFile {
    const { latest, finalized } = this.life;
    if (kind === 'again' && latest) return latest.content;
    const serial = kind === 'stale' ? (finalized?.content.serial ?? 1) : (this.serial += 1);
    const lineage = kind === 'foreign' ? 'another' : (finalized?.content.lineage ?? 'one');
    const names = Array.from({ length: resources }, (_, n) => `resource-${n}`);
    return { ...stateFile({ serial, lineage, names }), resources };
  }

  announce(version: ModelStateVersion<ModelFile>, { body }: ApiResponse): void {
    const link = body.data.attributes['hosted-state-upload-url'] as string | null;
    if (link) this.links.set(version, { version, link: pathOf(link), life: this.life });
  }

  /** The version that came last without its file. */
  get announced(): Announced | undefined {
    return [...this.links.values()].at(-1);
  }

  /** Something is done: what the server answers, and all that it tells afterwards, is what the model says. */
  async done(
    by: string,
    status: number,
    ask: () => Promise<ApiResponse>,
    rule: (answer: ApiResponse) => void,
  ): Promise<void> {
    const at = this.acme.clock.pass({ minutes: 1 });
    const before = this.life;
    const known = before.runs.length;
    const answer = await ask();
    before.startStep(at, by);
    const expected = refusalBy(() => rule(answer)) ?? { status, detail: '' };
    expectAnswer(answer, expected);
    this.life.settle();
    await this.compare();
    if (this.life !== before) await this.furnish();
    else for (const run of this.life.runs.slice(known)) await this.equip(run);
  }

  /** The executor gets a run's token for it. */
  private async equip(run: ModelRun): Promise<void> {
    this.acme.clock.pass({ seconds: 1 });
    this.tokens.set(run, await makeToken(this.acme.agents, `/api/v2/runs/${run.id}/authentication-tokens`));
  }

  /** What a new workspace needs for all that may happen to it. */
  private async furnish(): Promise<void> {
    this.acme.clock.pass({ minutes: 1 });
    await this.acme.giveAccess(this.life.id);
    await makeConfigurationVersion(this.acme.person('owner').api, this.life.id);
    this.life.history.push({ event: 'ConfigurationVersionCreated', by: 'owner' });
    await this.look();
  }

  private async compare(): Promise<void> {
    const { life, acme } = this;
    // It starts runs of its own accord: by now it has.
    await waitForFollowers(acme.server.store, 'run_queue');
    const [events, trail, history, locks] = await Promise.all([
      acme.listEvents(),
      acme.listTrailEntries(),
      this.history(),
      this.lockHistory(),
      this.look(),
    ]);
    const told = { events, trail, locks, history: history.told };
    expectSame(told, { events: life.events, trail: life.trail, locks: life.lockHistory, history: life.history });
    expectAtLeast(history.fields, life.fields);
  }

  /** How it is shown now, which is kept. */
  private async look(): Promise<void> {
    const { id, name, alive, document: expected } = this.life;
    const { status, body } = await this.acme.person('owner').api.get(this.path());
    expectSame(status, alive ? 200 : 404);
    if (alive) expectAtLeast(body.data, expected);
    this.returnedWorkspaces.push({
      at: this.acme.clock.now().toISOString(),
      id,
      name,
      document: alive ? plain(body.data) : null,
    });
  }

  private async list(path: string): Promise<any[]> {
    const { api } = this.acme.person('owner');
    const { data } = expectStatus(await api.get(`${this.path(path)}?page%5Bsize%5D=100`), 200).body;
    return data.map(({ attributes }: any) => attributes);
  }

  /** Its events with whoever did it, oldest first, and what all their changes come to, each from what was there before. */
  private async history(): Promise<{ readonly told: object[]; readonly fields: object }> {
    const entries = (await this.list('/history')).toReversed();
    const fields: Record<string, unknown> = { ...UNNAMED };
    for (const { field, from, to } of entries.flatMap(({ changes }) => changes)) {
      expectSame({ field, from }, { field, from: fields[field] ?? null });
      fields[field] = to;
    }
    return { told: entries.map((entry) => ({ event: entry.event, by: entry['actor-name'] })), fields };
  }

  private async lockHistory(): Promise<object[]> {
    return (await this.list('/lock-history')).map((told) => ({
      holder: told['locked-by-name'],
      reason: told.reason,
      since: told['locked-at'],
      until: told['unlocked-at'],
      by: told['unlocked-by-name'],
      forced: told.forced,
    }));
  }
}

const refusalBy = (rule: () => void): ModelRefusal | null => {
  try {
    rule();
    return null;
  } catch (error) {
    if (error instanceof ModelRefusal) return error;
    throw error;
  }
};
