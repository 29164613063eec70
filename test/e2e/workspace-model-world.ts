import { expect } from '@jest/globals';
import { sql } from '#platform/kernel';
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

type ModelFile = TestStateFile & { readonly resources: number };
export type ModelledWorkspace = WorkspaceModel<ModelFile>;
export type ActingCaller = LifeCaller & { readonly api: ApiTestClient };
export type CallerName = ModelRole | 'holder';

/** Name under which the trail lists reports of runs: the description of the agent token (makeAgentToken). */
export const EXECUTOR = 'for an agent';

/** An organization with a person for each role that can act on the workspace, on a fixed clock. */
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
    // The team is visible, because a refused lock names a team only to callers that can see it.
    const crew = await makeTeam(server, 'acme', 'crew', { visibility: 'organization' });
    grants.push([crew, 'write']);
    const token = await makeToken(server, `/api/v2/teams/${crew}/authentication-token`);
    people.set('team', { role: 'team', person: { type: 'teams', id: crew, name: 'crew' }, api: server.as(token) });
    const agents = server.as(await makeAgentToken(server, await makeRemotePool(server, 'acme', 'edge')));
    const auditor = server.as(await makeOrganizationToken(server, 'acme'));
    return new Acme(server, clock, people, grants, agents, auditor);
  }

  person(role: ModelRole): ActingCaller {
    const caller = this.people.get(role);
    if (!caller) throw new Error(`nobody is ${role}`);
    return caller;
  }

  roleOf(person: ModelUser): ModelRole {
    return [...this.people.values()].find(({ person: { id } }) => id === person.id)?.role ?? 'run';
  }

  async giveAccess(workspace: string): Promise<void> {
    for (const [team, level] of this.grants) await grantWorkspaceAccess(this.server, team, workspace, level);
  }

  /** Returns the events at the current time of the clock, at which nothing else happens. */
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

/** A workspace as its owner saw it at a time. `document` is null if it did not exist. */
export type ReturnedWorkspace = {
  readonly at: string;
  readonly id: string;
  readonly name: string;
  readonly document: object | null;
};

/** Returns the document without permissions, which are those of the caller at the time of the request. */
export const plain = (data: any): object => ({ ...data, attributes: { ...data.attributes, permissions: null } });

/** Values of the fields before the history names them. */
const UNNAMED = {
  description: null,
  'locked-by': null,
  'locked-reason': null,
  'current-state-version': null,
  'current-run': null,
};

const expectSame = (actual: unknown, expected: unknown): void => expect(actual).toEqual(expected);

const expectAtLeast = (actual: object, expected: object): void => expect(actual).toMatchObject(expected);

const expectAnswer = (
  { status, text }: ApiResponse,
  expected: { readonly status: number; readonly detail: string },
): void =>
  expect({ status, text }).toEqual({ status: expected.status, text: expect.stringContaining(expected.detail) });

/**
 * A state version that waits for its file. Its workspace may be deleted meanwhile, and another one may have its name.
 */
type Announced = {
  readonly version: ModelStateVersion<ModelFile>;
  readonly link: string;
  readonly life: ModelledWorkspace;
};

/** A workspace on the server, beside its model. After a deletion another workspace can take its name. */
export class WorkspaceTestWorld {
  readonly returnedWorkspaces: ReturnedWorkspace[] = [];
  private readonly tokens = new Map<ModelRun, string>();
  /** Upload links of the state versions that were created without their files. */
  private readonly links = new Map<ModelStateVersion<ModelFile>, Announced>();
  private serial = 0;

  private constructor(
    readonly acme: Acme,
    public life: ModelledWorkspace,
  ) {}

  static create(acme: Acme, name: string): WorkspaceTestWorld {
    return new WorkspaceTestWorld(acme, new WorkspaceModel<ModelFile>('', name));
  }

  path(rest = ''): string {
    return `/api/v2/workspaces/${this.life.id}${rest}`;
  }

  /** Returns the caller. Null if the caller is a run and there has been none. */
  acting(callerName: CallerName): ActingCaller | null {
    const { lock, runs } = this.life;
    const role = callerName === 'holder' ? (lock ? this.acme.roleOf(lock.holder) : 'writer') : callerName;
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

  /** The newest version that waits for its file. */
  get announced(): Announced | undefined {
    return [...this.links.values()].at(-1);
  }

  /**
   * Sends a request, applies the same rule to the model, and expects response and state of the server to match the
   * model.
   */
  async done(
    by: string,
    status: number,
    send: () => Promise<ApiResponse>,
    rule: (answer: ApiResponse) => void,
  ): Promise<void> {
    const at = this.acme.clock.pass({ minutes: 1 });
    const before = this.life;
    const runCount = before.runs.length;
    const answer = await send();
    before.startStep(at, by);
    const expected = refusalBy(() => rule(answer)) ?? { status, detail: '' };
    expectAnswer(answer, expected);
    this.life.settle();
    await this.compare();
    if (this.life !== before) await this.furnish();
    else for (const run of this.life.runs.slice(runCount)) await this.equip(run);
  }

  /** Issues the token of the run for the executor. */
  private async equip(run: ModelRun): Promise<void> {
    this.acme.clock.pass({ seconds: 1 });
    this.tokens.set(run, await makeToken(this.acme.agents, `/api/v2/runs/${run.id}/authentication-tokens`));
  }

  /** Gives a new workspace the access and the configuration version that the steps need. */
  private async furnish(): Promise<void> {
    this.acme.clock.pass({ minutes: 1 });
    await this.acme.giveAccess(this.life.id);
    await makeConfigurationVersion(this.acme.person('owner').api, this.life.id);
    this.life.history.push({ event: 'ConfigurationVersionCreated', by: 'owner' });
    await this.look();
  }

  private async compare(): Promise<void> {
    const { life, acme } = this;
    // The queue starts runs on its own. From here on it has done so.
    await waitForFollowers(acme.server.store, 'run_queue');
    const [events, trail, history, locks] = await Promise.all([
      acme.listEvents(),
      acme.listTrailEntries(),
      this.history(),
      this.lockHistory(),
      this.look(),
    ]);
    const actual = { events, trail, locks, history: history.entries };
    expectSame(actual, { events: life.events, trail: life.trail, locks: life.lockHistory, history: life.history });
    expectAtLeast(history.fields, life.fields);
  }

  /** Expects the document of the model, and records it for later reads with as-of. */
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

  /**
   * Returns the events with their actors, oldest first, and the fields that result from all changes. Each change must
   * start from the value before.
   */
  private async history(): Promise<{ readonly entries: object[]; readonly fields: object }> {
    const entries = (await this.list('/history')).toReversed();
    const fields: Record<string, unknown> = { ...UNNAMED };
    for (const { field, from, to } of entries.flatMap(({ changes }) => changes)) {
      expectSame({ field, from }, { field, from: fields[field] ?? null });
      fields[field] = to;
    }
    return { entries: entries.map((entry) => ({ event: entry.event, by: entry['actor-name'] })), fields };
  }

  private async lockHistory(): Promise<object[]> {
    return (await this.list('/lock-history')).map((lock) => ({
      holder: lock['locked-by-name'],
      reason: lock.reason,
      since: lock['locked-at'],
      until: lock['unlocked-at'],
      by: lock['unlocked-by-name'],
      forced: lock.forced,
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
