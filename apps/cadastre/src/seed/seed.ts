import { sql } from '#platform/kernel';
import { rebuildView } from '#storage/event-store';
import { StartupError } from '#platform/host';
import { ensureUser } from '#identity/people';
import { ToolReleases } from '#workspaces/workspaces';
import type { Runtime } from '../../../runtime.js';
import { eventRegistry, views } from '../../../modules.js';
import { BulkSessions } from './bulk-sessions.js';
import type { SeedOptions } from './seed-options.js';
import { nameOrganization, planOrganization, type SeedOrganization } from './seed-organizations.js';
import { createTimeline, type SeedPlan, type SeedUser, type Timeline } from './seed-plan.js';
import { planLock, planWorkspace, type WorkspaceSlot } from './seed-workspaces.js';
import { createSeededIds } from './seeded-ids.js';

/** Streams in one transaction. Larger ones are hardly faster, and followers wait for their end. */
const CHUNK = 500;
/** Organizations in one transaction. Their views have no bulk statements. */
const ORGANIZATIONS_CHUNK = 50;
/** With fewer new events, followers are as fast as a rebuild of their views. */
const MIN_EVENTS_FOR_REBUILD = 50_000;

type SeedDependencies = Pick<Runtime, 'store' | 'clock' | 'ids' | 'settings'>;
type ReportProgress = (work: string, done: number, all: number) => void;

type SeedResult = {
  readonly organizations: number;
  readonly workspaces: number;
  readonly events: number;
  /** Time until all events and inline views were written. Statistics and views of followers come after. */
  readonly appendMs: number;
};

/** Adds organizations with their content to the log and the views. See `SeedOptions`. */
export const seed = async (
  runtime: SeedDependencies,
  options: SeedOptions,
  report: ReportProgress = () => undefined,
): Promise<SeedResult> => {
  if (options.trailEntries > 0 && options.workspaces === 0)
    throw new StartupError('--trail-entries locks and unlocks workspaces, so --workspaces must be at least 1');
  await refuseTakenNames(runtime, options);
  const plan = await createPlan(runtime, options);
  const sessions = await BulkSessions.open(runtime.store, plan.ids, options.connections);
  try {
    const started = performance.now();
    const added = await new Seeding(plan, sessions, runtime.clock.now(), report).run();
    await sessions.settle();
    const appendMs = performance.now() - started;
    await vacuum(runtime);
    await rebuildFollowersViews(runtime, added.events, report);
    return { ...added, appendMs };
  } finally {
    await sessions.close();
  }
};

const refuseTakenNames = async ({ store }: SeedDependencies, options: SeedOptions): Promise<void> => {
  const names = Array.from({ length: options.organizations }, (_, n) => nameOrganization(options, n));
  const rows = await store.database.rows<{ name: string }>(
    sql`select name from organizations where lower(name) = any (${names}::text[]) order by name limit 5`,
  );
  if (rows.length === 0) return;
  const takenNames = rows.map(({ name }) => name).join(', ');
  throw new StartupError(
    `There are organizations of these names already: ${takenNames}. Choose other names with --prefix, or delete them first.`,
  );
};

const createPlan = async ({ store, ids, settings }: SeedDependencies, options: SeedOptions): Promise<SeedPlan> => {
  const seededIds = createSeededIds(options, ids);
  const users: SeedUser[] = [];
  for (let n = 0; n < options.users; n += 1) {
    const username = `${options.prefix}-user-${n + 1}`;
    users.push({ ...(await ensureUser(store, seededIds, username, false)), username });
  }
  return {
    options,
    ids: seededIds,
    users,
    defaults: {
      featureSet: settings.featureSet,
      terraformVersion: new ToolReleases(settings.toolReleases).latest,
      globalRemoteState: settings.globalRemoteState,
    },
  };
};

const isAudited = (type: string): boolean => !('unaudited' in (eventRegistry[type]?.audit ?? { unaudited: '' }));

/** Appends the events of a plan: organizations first, then workspaces, then their locks. */
class Seeding {
  private readonly organizations: SeedOrganization[] = [];
  private readonly workspaces: number;
  /** How often the workspaces of each organization are locked. */
  private readonly locks: number;
  private readonly timeline: Timeline;
  private events = 0;

  constructor(
    private readonly plan: SeedPlan,
    private readonly sessions: BulkSessions,
    now: Date,
    private readonly report: ReportProgress,
  ) {
    const { organizations, workspaces, trailEntries, days } = plan.options;
    // Nothing of this is appended: it shows how many events and entries an organization begins with.
    const example = planOrganization({ ...plan, ids: createSeededIds(plan.options, plan.ids) }, 0, now.toISOString());
    const types = example.writes.flatMap((write) => write.events.map(({ type }) => type));
    const entries = types.filter(isAudited).length + workspaces;
    this.workspaces = organizations * workspaces;
    this.locks = Math.max(0, Math.ceil((trailEntries - entries) / 2));
    this.timeline = createTimeline(now, days, organizations * (types.length + workspaces + 2 * this.locks));
  }

  async run(): Promise<Omit<SeedResult, 'appendMs'>> {
    await this.addOrganizations();
    await this.addWorkspaces();
    await this.addLocks();
    return { organizations: this.organizations.length, workspaces: this.workspaces, events: this.events };
  }

  private async addOrganizations(): Promise<void> {
    const all = this.plan.options.organizations;
    for (let first = 0; first < all; first += ORGANIZATIONS_CHUNK) {
      const last = Math.min(first + ORGANIZATIONS_CHUNK, all);
      const planned: SeedOrganization[] = [];
      for (let n = first; n < last; n += 1) {
        planned.push(planOrganization(this.plan, n, this.timeline(this.events)));
        this.events += planned.at(-1)?.writes.flatMap(({ events }) => events).length ?? 0;
      }
      // One after the other, because all of them change the access of the same users.
      await this.sessions.append(
        0,
        planned.flatMap(({ writes }) => writes),
      );
      // Without the writes, which would fill the memory.
      this.organizations.push(...planned.map(({ id, projects }) => ({ id, projects, writes: [] })));
      this.report('organizations', last, all);
    }
    await this.sessions.settle();
  }

  private async addWorkspaces(): Promise<void> {
    for (let first = 0; first < this.workspaces; first += CHUNK) {
      const last = Math.min(first + CHUNK, this.workspaces);
      const start = this.events;
      const writes = this.listSlots(first, last).map((slot, index) =>
        planWorkspace(this.plan, slot, this.timeline(start + index)),
      );
      await this.sessions.append(first / CHUNK, writes);
      this.events += writes.length;
      this.report('workspaces', last, this.workspaces);
    }
  }

  /** Every workspace is locked and unlocked in turn, until each organization has enough entries. */
  private async addLocks(): Promise<void> {
    const { workspaces, organizations } = this.plan.options;
    let done = 0;
    for (let earlier = 0; earlier * workspaces < this.locks; earlier += 1) {
      const remaining = this.locks - earlier * workspaces;
      for (let first = 0; first < this.workspaces; first += CHUNK) {
        const slots = this.listSlots(first, Math.min(first + CHUNK, this.workspaces)).filter(({ n }) => n < remaining);
        if (slots.length === 0) continue;
        const start = this.events;
        // All are locked before the first is unlocked.
        const timesOf = (index: number) =>
          [this.timeline(start + index), this.timeline(start + slots.length + index)] as const;
        const writes = slots.map((slot, index) => planLock(this.plan, slot, earlier, timesOf(index)));
        await this.sessions.append(first / CHUNK, writes);
        this.events += 2 * writes.length;
        this.report('locks', (done += writes.length), organizations * this.locks);
      }
    }
  }

  private listSlots(first: number, last: number): readonly WorkspaceSlot[] {
    const { workspaces } = this.plan.options;
    return Array.from({ length: last - first }, (_, index) => {
      const { id, projects } = this.organizations[Math.floor((first + index) / workspaces)] as SeedOrganization;
      return { organization: id, projects, n: (first + index) % workspaces };
    });
  }
}

const LOG_TABLES = ['event_store.events', 'event_store.streams'];

/** Collects statistics at once, so that the first requests get good plans. */
const vacuum = async ({ store }: SeedDependencies): Promise<void> => {
  const session = await store.database.session();
  try {
    const tables = views.filter(({ follower }) => follower === null).flatMap((view) => view.tables);
    for (const table of [...LOG_TABLES, ...tables.map((name) => `views.${name}`)]) {
      await session.run(sql.raw(`vacuum (analyze) ${table}`));
    }
  } finally {
    await session.close();
  }
};

/**
 * Rebuilds the views of followers if most events of the log are new, because a rebuild is faster than the followers.
 * Otherwise they process the new events by themselves.
 */
const rebuildFollowersViews = async ({ store, clock }: SeedDependencies, added: number, report: ReportProgress) => {
  const row = await store.database.row<{ events: number }>(sql`
    select greatest(reltuples, 0)::float8 as events from pg_class where oid = 'event_store.events'::regclass`);
  const all = row?.events ?? 0;
  if (added < MIN_EVENTS_FOR_REBUILD || added < all / 2) return;
  // A rebuild leaves events after the checkpoint to a follower with durable rows.
  for (const view of views.filter(({ follower }) => follower && !follower.durable)) {
    let done = 0;
    await rebuildView(store, view, {
      now: clock.now(),
      onEvents: (events) => report(`${view.name} rebuilt from events`, (done += events), all),
    });
  }
};
