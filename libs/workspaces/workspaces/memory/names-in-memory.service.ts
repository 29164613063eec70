import { LRUCache } from 'lru-cache';
import type { LogChange } from '#storage/event-store';
import type { Clock } from '#platform/kernel';
import { cacheMetrics, getChangedWorkspace, type DocumentDependencies } from '#api/document-cache';
import type { DocumentKind } from '#api/access';
import type { SharedWorkspaceRow } from '../workspaces/workspaces.queries.js';
import { isYoungEnough } from './age-in-memory.js';
import type { SortedNames } from './sorted-names.js';

/** The names of all workspaces of an organization. */
export type OrganizationNames = {
  readonly organization: string;
  readonly organizationName: string;
  readonly names: SortedNames;
  /** Workspaces whose names can have changed. */
  readonly changed: Set<string>;
  isCurrent: boolean;
  readonly keptAt: number;
};

const WORKSPACES: DocumentKind = { name: 'workspace-names', tables: ['workspaces'] };
const ORGANIZATIONS: DocumentKind = { name: 'organization-names', tables: ['organizations'] };

/** Events of workspaces that change neither a name nor the set of workspaces. They are the most frequent ones. */
const WITHOUT_NAMES: ReadonlySet<string> = new Set([
  'WorkspaceRepositoryConnected',
  'WorkspaceMoved',
  'WorkspaceLocked',
  'WorkspaceLockLeased',
  'WorkspaceUnlocked',
  'WorkspaceLockExpired',
  'WorkspaceSshKeyAssigned',
  'WorkspaceSshKeyUnassigned',
  'WorkspaceTagAdded',
  'WorkspaceTagRemoved',
  'WorkspaceTagBound',
  'WorkspaceTagUnbound',
  'WorkspaceTagged',
  'WorkspaceUntagged',
  'RemoteStateConsumersAdded',
  'RemoteStateConsumersRemoved',
  'StateVersionCreated',
  'StateVersionPromoted',
  'SshKeyDeleted',
]);

/** More changed names are read again together. */
const MAX_CHANGED = 100;

/** Lists of an organization that Postgres must answer before all names are read: for a few, reading them does not pay. */
const MIN_LISTS = 20;
/** Organizations whose lists are counted. */
const MAX_COUNTED = 1_000;

type NamesInMemoryOptions = {
  readonly maxBytes: number;
  readonly dependencies: DocumentDependencies;
  readonly clock: Clock;
  /** Finds the organization with this exact name. */
  readonly findOrganization: (organizationName: string) => Promise<string | null>;
  /** Reads the names of an organization by its exact name; null if there are too many, or it does not exist. */
  readonly read: (organizationName: string) => Promise<NamesOfOrganization | null>;
};

export type NamesOfOrganization = { readonly organization: string; readonly names: SortedNames };

/** Lists of an organization that Postgres answered. */
type CountedLists = {
  lists: number;
  /** Null until enough lists were requested: then only those of callers that may read all workspaces count. */
  organization: string | null;
};

/** Whether the caller may read all workspaces of the organization. */
type ReadsAll = (organization: string) => boolean;

/** An object of its own for each size, because the size of the same object is not measured again. */
type MeasuredNames = { readonly entry: OrganizationNames };

/** Changes while names are read. */
type PendingNames = { readonly changed: Set<string>; isCurrent: boolean };

/**
 * The names of the workspaces of organizations whose lists are read often, with a limit of bytes. A change of one workspace
 * makes its name unknown until its row is read. Any other change drops the names.
 */
export class NamesInMemory {
  private readonly byName: LRUCache<string, MeasuredNames>;
  private readonly byId = new Map<string, OrganizationNames>();
  private readonly lists = new LRUCache<string, CountedLists>({ max: MAX_COUNTED });
  private readonly pending = new Map<string, PendingNames>();

  constructor(private readonly options: NamesInMemoryOptions) {
    this.byName = new LRUCache({
      maxSize: options.maxBytes,
      sizeCalculation: ({ entry }) => Math.max(1, entry.names.bytes),
      dispose: ({ entry }, _name, reason) => reason !== 'set' && this.forget(entry),
    });
  }

  /**
   * Returns the names of the organization; null if they are not in memory. They are read if lists are frequent that they
   * can answer: those of callers that may read all workspaces.
   */
  find(organizationName: string, readsAll: ReadsAll): OrganizationNames | null {
    const entry = this.byName.get(organizationName)?.entry;
    if (entry && isYoungEnough(entry.keptAt, this.now())) return entry;
    if (entry) this.byName.delete(organizationName);
    else this.countList(organizationName, readsAll);
    return null;
  }

  onChanges(changes: readonly LogChange[]): void {
    for (const change of changes) {
      if (this.isOf(change, ORGANIZATIONS)) this.drop(change.organization);
      else if (this.isOf(change, WORKSPACES) && !WITHOUT_NAMES.has(change.type)) this.markChanged(change);
    }
  }

  /** Receives the workspaces with these ids. Those without a row do not exist. */
  onRead(ids: readonly string[], rows: ReadonlyMap<string, SharedWorkspaceRow>): void {
    for (const entry of this.byId.values()) {
      const changed = ids.filter((id) => entry.changed.delete(id));
      if (changed.length === 0) continue;
      for (const id of changed) {
        const row = rows.get(id);
        if (row?.organization !== entry.organization) entry.names.delete(id);
        else if (!entry.names.set(id, row.name)) entry.isCurrent = false;
      }
      if (entry.isCurrent) this.store(entry);
      else this.byName.delete(entry.organizationName);
    }
  }

  clear(): void {
    this.byName.clear();
    this.lists.clear();
    for (const pending of this.pending.values()) pending.isCurrent = false;
  }

  private countList(organizationName: string, readsAll: ReadsAll): void {
    if (this.pending.has(organizationName)) return;
    const counted = this.lists.get(organizationName) ?? { lists: 0, organization: null };
    if (counted.organization !== null && !readsAll(counted.organization)) return;
    counted.lists += 1;
    this.lists.set(organizationName, counted);
    if (counted.lists < MIN_LISTS) return;
    const pending = { changed: new Set<string>(), isCurrent: true };
    this.pending.set(organizationName, pending);
    void this.read(organizationName, readsAll, pending)
      // Without the names, Postgres answers the lists.
      .catch(() => undefined)
      .finally(() => this.pending.delete(organizationName));
  }

  private async read(organizationName: string, readsAll: ReadsAll, pending: PendingNames): Promise<void> {
    this.lists.delete(organizationName);
    const organization = await this.options.findOrganization(organizationName);
    if (organization === null || !pending.isCurrent) return;
    if (!readsAll(organization)) {
      this.lists.set(organizationName, { lists: 0, organization });
      return;
    }
    const names = await this.options.read(organizationName);
    if (!names || !pending.isCurrent) return;
    const { changed } = pending;
    const entry = { ...names, organizationName, changed, isCurrent: true, keptAt: this.now() };
    this.byId.set(names.organization, entry);
    this.store(entry);
  }

  /** Keeps the names with their present size, unless they exceed the whole memory. */
  private store(entry: OrganizationNames): void {
    this.byName.set(entry.organizationName, { entry });
    if (!this.byName.has(entry.organizationName)) this.forget(entry);
    this.report();
  }

  private isOf({ type }: LogChange, kind: DocumentKind): boolean {
    return this.options.dependencies.listTypes(kind).has(type);
  }

  private markChanged(change: LogChange): void {
    const workspace = getChangedWorkspace(change);
    if (workspace === null) return this.drop(change.organization);
    const entry = change.organization === null ? null : this.byId.get(change.organization);
    for (const names of [...(entry ? [entry] : []), ...this.pending.values()]) {
      names.changed.add(workspace);
      if (names.changed.size > MAX_CHANGED) names.isCurrent = false;
    }
    if (entry && !entry.isCurrent) this.byName.delete(entry.organizationName);
  }

  /** Drops the names of an organization, and all that are being read; without an organization, those of all. */
  private drop(organization: string | null): void {
    for (const pending of this.pending.values()) pending.isCurrent = false;
    if (organization === null) return this.clear();
    // Its name can be that of another organization now.
    for (const [name, counted] of this.lists.entries())
      if (counted.organization === organization) this.lists.delete(name);
    const entry = this.byId.get(organization);
    if (entry) this.byName.delete(entry.organizationName);
  }

  private forget(entry: OrganizationNames): void {
    entry.isCurrent = false;
    if (this.byId.get(entry.organization) === entry) this.byId.delete(entry.organization);
    this.report();
  }

  private now(): number {
    return this.options.clock.now().getTime();
  }

  private report(): void {
    let names = 0;
    for (const entry of this.byId.values()) names += entry.names.count;
    cacheMetrics.names.set(names);
  }
}
