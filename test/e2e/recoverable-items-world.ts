import { expect } from '@jest/globals';
import type { ScheduledJob } from '#platform/postgres';
import { createExpiredProjectsJob } from '#organizations/organizations';
import { createDeletedProvidersJob, createExpiredProvidersJob } from '#registry/registry';
import { createExpiredVariableSetsJob } from '#workspaces/variables';
import { createExpiredWorkspacesJob } from '#workspaces/workspaces';
import { FixedClock } from '../support/clocks.js';
import { readDatabase } from '../support/leaks.js';
import {
  showRecoverable,
  type RecoverableTestItem,
  type RecoverableContext,
  type RecoverableTestKind,
} from '../support/recoverable-kinds.js';
import { listRecoverable, purgeItem, recoverItem } from '../support/recovery.js';
import { addGpgKey, makeSigner } from '../support/releases.js';
import { runJobOnce } from '../support/scheduled-jobs.js';
import { expectStatus, makeMember, makeOrganization, makeTeam, resource, type SeededMember } from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';

const SECOND_MS = 1_000;
const DAY_MS = 86_400 * SECOND_MS;
const RECOVERABLE_DAYS = 30;

/** The organization acme on a server with followers, whose time stands still. */
export class RecoverableSite {
  private people = 0;

  private constructor(
    readonly server: TestServer,
    readonly clock: FixedClock,
    readonly context: RecoverableContext,
    private readonly ownersTeam: string,
    private readonly jobs: readonly ScheduledJob[],
  ) {}

  static async start(): Promise<RecoverableSite> {
    const clock = new FixedClock();
    const server = await startTestServer({ clock, followers: true });
    const { store, runtime } = server;
    const { ownersTeam, defaultProject } = await makeOrganization(server, 'acme');
    const signer = await makeSigner();
    await addGpgKey(server, 'acme', signer);
    const team = await makeTeam(server, 'acme', 'readers');
    return new RecoverableSite(server, clock, { organization: 'acme', defaultProject, team, signer }, ownersTeam, [
      createExpiredWorkspacesJob(store, clock, runtime.ids),
      createExpiredProjectsJob(store, clock, runtime.ids),
      createExpiredVariableSetsJob(store, clock, runtime.ids),
      createExpiredProvidersJob(store, clock, runtime.ids),
      createDeletedProvidersJob(store),
    ]);
  }

  /** Adds an owner whose name is in no other text of the database. */
  makeOwner(): Promise<SeededMember> {
    return makeMember(this.server, 'acme', `zerlinda-${(this.people += 1)}-q`, [this.ownersTeam]);
  }

  async forget({ id }: SeededMember): Promise<void> {
    expectStatus(await this.server.delete(`/api/v2/admin/users/${id}`), 204);
  }

  /** Runs the jobs that end what is too old. */
  async pass(days: number): Promise<void> {
    this.clock.pass({ days });
    for (const job of this.jobs) await runJobOnce(job);
  }

  /** Returns the tables of the database that contain the name of the person. */
  async listTablesNaming({ username }: SeededMember): Promise<readonly string[]> {
    const rows = await readDatabase(this.server);
    return [...new Set(rows.filter(({ text }) => text.includes(username)).map(({ table }) => table))].toSorted();
  }
}

type ModelItem = RecoverableTestItem & {
  readonly test: RecoverableTestKind;
  name: string;
  status: 'active' | 'deleted' | 'gone';
  document: object;
  recoverableUntil: number;
};

const expectSame = (actual: unknown, expected: unknown): void => expect(actual).toEqual(expected);

const fold = (name: string): string => name.toLowerCase();

/** Resources of all kinds on the server of the site, beside what they must be. */
export class RecoverableWorld {
  private readonly items: ModelItem[] = [];
  private readonly forgotten: SeededMember[] = [];

  private constructor(
    private readonly site: RecoverableSite,
    private readonly prefix: string,
    private person: SeededMember,
  ) {}

  static async create(site: RecoverableSite, prefix: string): Promise<RecoverableWorld> {
    return new RecoverableWorld(site, prefix, await site.makeOwner());
  }

  async make(test: RecoverableTestKind, suffix: string): Promise<void> {
    const name = this.toName(test, suffix);
    const isTaken = this.isTaken(test, name);
    const answer = expectStatus(await test.create(this.person, this.site.context, name), isTaken ? 422 : 201);
    if (isTaken) return;
    const item = { id: answer.body.data.id as string, name };
    await test.fill(this.person, this.site.context, item);
    const document = await showRecoverable(test, this.site.server, this.site.context, item);
    this.items.push({ ...item, test, status: 'active', document, recoverableUntil: 0 });
  }

  async remove(which: number): Promise<void> {
    const item = this.pick(which);
    if (!item) return;
    // The path of a provider has its name, which another one may have now.
    if (item.test.kind === 'registry-providers' && item.status !== 'active') return;
    const answer = await this.person.delete(item.test.pathOf(this.site.context, item));
    expectStatus(answer, item.status === 'active' ? 204 : 404);
    if (item.status !== 'active') return;
    item.status = 'deleted';
    item.recoverableUntil = this.site.clock.time + RECOVERABLE_DAYS * DAY_MS;
  }

  async recover(which: number, suffix: string | null): Promise<void> {
    const item = this.pick(which);
    if (!item) return;
    const name = suffix === null ? item.name : this.toName(item.test, suffix);
    const answer = await recoverItem(this.person, item.id, suffix === null ? undefined : name);
    const refusal = this.refuse(item) ?? (this.isTaken(item.test, name) ? 422 : null);
    expectStatus(answer, refusal ?? 200);
    if (refusal !== null) return;
    const { changes } = answer.body.data.attributes;
    const fields = changes.map(({ field }: { field: string }) => field);
    expectSame(fields, name === item.name ? [] : ['name']);
    Object.assign(item, { name, status: 'active' });
    await this.expectShown(item);
  }

  async purge(which: number): Promise<void> {
    const item = this.pick(which);
    if (!item) return;
    const refusal = this.refuse(item);
    expectStatus(await purgeItem(this.person, item.id), refusal ?? 204);
    if (refusal === null) item.status = 'gone';
  }

  async rename(which: number, suffix: string): Promise<void> {
    const item = this.pick(which);
    if (!item?.test.isRenamable) return;
    const name = this.toName(item.test, suffix);
    const isTaken = this.isTaken(item.test, name, item);
    const answer = await this.person.patch(
      item.test.pathOf(this.site.context, item),
      resource(item.test.kind, { name }),
    );
    const status = item.status === 'active' ? (isTaken ? 422 : 200) : 404;
    expectStatus(answer, status);
    if (status === 200) item.name = name;
  }

  async pass(days: number): Promise<void> {
    await this.site.pass(days);
    for (const item of this.items)
      if (item.status === 'deleted' && item.recoverableUntil <= this.site.clock.time) item.status = 'gone';
  }

  async replacePerson(): Promise<void> {
    const before = this.person;
    this.person = await this.site.makeOwner();
    await this.site.forget(before);
    this.forgotten.push(before);
  }

  /** Expects the list to have the deleted ones of this world, and no name twice. */
  async expectList(): Promise<void> {
    const deleted = this.items.filter(({ status }) => status === 'deleted');
    const listed = await listRecoverable(this.site.server, 'acme');
    const own = listed.filter(({ id }) => this.items.some((item) => item.id === id));
    const toText = (kind: string, id: string, name: string): string => `${kind} ${id} ${name.split('/').at(-1)}`;
    expectSame(
      own.map(({ id, attributes }) => toText(attributes.kind, id, attributes.name)).toSorted(),
      deleted.map(({ test: { kind }, id, name }) => toText(kind, id, name)).toSorted(),
    );
  }

  /** Expects all to show what they showed before, nothing deleted to be readable, and nobody forgotten to be named. */
  async expectAll(): Promise<void> {
    for (const item of this.items) {
      if (item.status === 'active') await this.expectShown(item);
      else if (item.test.kind !== 'registry-providers')
        expectStatus(await this.site.server.get(item.test.pathOf(this.site.context, item)), 404);
    }
    await this.expectList();
    for (const person of this.forgotten) expectSame(await this.site.listTablesNaming(person), []);
  }

  private async expectShown(item: ModelItem): Promise<void> {
    expectSame(await showRecoverable(item.test, this.site.server, this.site.context, item), item.document);
  }

  /** Returns the status of the refusal of a recovery or a purge, whatever name it has. */
  private refuse({ status }: ModelItem): number | null {
    return status === 'deleted' ? null : status === 'active' ? 409 : 404;
  }

  private isTaken(test: RecoverableTestKind, name: string, except?: ModelItem): boolean {
    return this.items.some(
      (item) => item !== except && item.test === test && item.status === 'active' && fold(item.name) === fold(name),
    );
  }

  private pick(which: number): ModelItem | undefined {
    return this.items[which % this.items.length];
  }

  /** Names of providers have only small letters. */
  private toName({ kind }: RecoverableTestKind, suffix: string): string {
    const name = `${this.prefix}-${suffix}`;
    return kind === 'registry-providers' ? fold(name) : name;
  }
}
