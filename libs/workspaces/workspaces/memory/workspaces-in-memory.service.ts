import { LRUCache } from 'lru-cache';
import type { LogChange } from '#storage/event-store';
import type { Clock } from '#platform/kernel';
import { cacheMetrics, getChangedWorkspace, type DocumentDependencies } from '#api/document-cache';
import type { Resource } from '#api/json-api';
import { WORKSPACE_DOCUMENT, type SharedWorkspaceRow } from '../workspaces/workspaces.queries.js';
import { isYoungEnough } from './age-in-memory.js';
import { compactWorkspace, type CompactWorkspace, type WorkspaceShape } from './workspace-shape.document.js';

export type WorkspaceInMemory = CompactWorkspace & {
  readonly id: string;
  readonly organization: string;
  readonly organizationName: string;
  readonly name: string;
  readonly bytes: number;
  readonly keptAt: number;
  /** The generation of the organization when the workspace was kept. */
  readonly generation: number;
};

type SharedShape = { readonly shape: WorkspaceShape; readonly bytes: number; workspaces: number };

type WorkspacesInMemoryOptions = {
  readonly maxBytes: number;
  readonly dependencies: DocumentDependencies;
  readonly clock: Clock;
  readonly editResource: (resource: Resource) => Resource;
};

/** Bytes of a workspace besides its values: its id, its names, and the entries of two maps. */
const WORKSPACE_BYTES = 400;
/** Bytes of a shape for each character of its key: its pieces are copies of these characters. */
const SHAPE_BYTES = 2;

/** A character beyond Latin-1 makes all characters of its text take two bytes. */
const LATIN1 = /^[\0-\u00ff]*$/;

const sizeOf = (text: string): number => (LATIN1.test(text) ? text.length : 2 * text.length);

const toNameKey = (organization: string, name: string): string => `${organization}/${name}`;

/** Organizations whose workspaces were dropped together. If there are more, the workspaces of all are dropped. */
const MAX_GENERATIONS = 10_000;

/**
 * Workspaces in memory, with a limit of bytes; the least recently used are dropped first. Each change drops the
 * workspaces that it can have changed.
 */
export class WorkspacesInMemory {
  private readonly byId: LRUCache<string, WorkspaceInMemory>;
  private readonly byName = new Map<string, WorkspaceInMemory>();
  private readonly shapes = new Map<string, SharedShape>();
  private shapeBytes = 0;
  /** Dropping thousands of workspaces one by one would take milliseconds, so they become outdated. */
  private readonly generations = new Map<string, number>();

  constructor(private readonly options: WorkspacesInMemoryOptions) {
    this.byId = new LRUCache({
      maxSize: options.maxBytes,
      sizeCalculation: ({ bytes }) => bytes,
      dispose: (workspace) => this.forget(workspace),
    });
  }

  find(id: string): WorkspaceInMemory | null {
    const entry = this.byId.get(id);
    if (!entry || this.isCurrent(entry)) return entry ?? null;
    this.byId.delete(id);
    return null;
  }

  /** Unlike `find`, does not count as a use of the workspace. */
  has(id: string): boolean {
    const entry = this.byId.peek(id);
    return entry !== undefined && this.isCurrent(entry);
  }

  findByName(organization: string, name: string): WorkspaceInMemory | null {
    const entry = this.byName.get(toNameKey(organization, name));
    return entry ? this.find(entry.id) : null;
  }

  keep(row: SharedWorkspaceRow): void {
    const { id, organization, organizationName, name } = row;
    // First, because it can be the last workspace of its shape.
    this.byId.delete(id);
    const { shape, values } = compactWorkspace(row, this.options.editResource);
    const entry: WorkspaceInMemory = {
      shape: this.share(shape),
      values,
      id,
      organization,
      organizationName,
      name,
      bytes: WORKSPACE_BYTES + sizeOf(values),
      keptAt: this.now(),
      generation: this.generations.get(organization) ?? 0,
    };
    this.byName.set(toNameKey(organizationName, name), entry);
    this.byId.set(id, entry);
    // A workspace that exceeds the whole memory is not kept.
    if (!this.byId.has(id)) this.forget(entry);
    while (this.byId.size > 0 && this.bytes > this.options.maxBytes) this.byId.pop();
    this.report();
  }

  onChanges(changes: readonly LogChange[]): void {
    for (const change of changes) this.dropChanged(change);
    this.report();
  }

  clear(): void {
    this.byId.clear();
    this.generations.clear();
    this.report();
  }

  private dropChanged(change: LogChange): void {
    const workspace = getChangedWorkspace(change);
    const organization = change.organization ?? '';
    if (!this.options.dependencies.isChangedBy(change, WORKSPACE_DOCUMENT, { organization, workspace })) return;
    if (workspace !== null) this.byId.delete(workspace);
    else if (change.organization === null || this.generations.size >= MAX_GENERATIONS) this.clear();
    else this.generations.set(organization, (this.generations.get(organization) ?? 0) + 1);
  }

  /** Counts a workspace of the shape. The bytes of a shape count from its first workspace until its last is dropped. */
  private share(shape: WorkspaceShape): WorkspaceShape {
    let shared = this.shapes.get(shape.key);
    if (!shared) {
      shared = { shape, bytes: SHAPE_BYTES * sizeOf(shape.key), workspaces: 0 };
      this.shapes.set(shape.key, shared);
      this.shapeBytes += shared.bytes;
    }
    shared.workspaces += 1;
    return shared.shape;
  }

  private forget(workspace: WorkspaceInMemory): void {
    const { shape, organizationName, name } = workspace;
    const key = toNameKey(organizationName, name);
    if (this.byName.get(key) === workspace) this.byName.delete(key);
    const shared = this.shapes.get(shape.key);
    if (!shared) return;
    shared.workspaces -= 1;
    if (shared.workspaces > 0) return;
    this.shapes.delete(shape.key);
    this.shapeBytes -= shared.bytes;
  }

  private isCurrent({ organization, generation, keptAt }: WorkspaceInMemory): boolean {
    return generation === (this.generations.get(organization) ?? 0) && isYoungEnough(keptAt, this.now());
  }

  private get bytes(): number {
    return this.byId.calculatedSize + this.shapeBytes;
  }

  private now(): number {
    return this.options.clock.now().getTime();
  }

  private report(): void {
    cacheMetrics.resources.set(this.byId.size);
    cacheMetrics.resourceBytes.set(this.bytes);
  }
}
