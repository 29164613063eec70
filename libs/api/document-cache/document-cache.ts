import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Actor, DocumentKind, Identity } from '#api/access';
import type { LogChange } from '#storage/event-store';
import type { Clock } from '#platform/kernel';
import { getChangedWorkspace, type DocumentDependencies, type DocumentScope } from './dependencies.js';
import { cacheMetrics } from './document-cache.metrics.js';
import type { ChangeListener } from './resources-in-memory.js';

/** A response that a gateway keeps. */
export type KeptDocument = {
  /** Bytes, because a string would be encoded for each response: a fifth of the CPU of a list. */
  readonly body: Buffer;
  readonly contentType: string;
  /** False after an event that can have changed the document. */
  readonly isCurrent: boolean;
};

/** A position in the sequence of changes. A statement that is sent later reads the effects of all earlier changes. */
export type ReadTicket = { readonly generation: number; readonly change: number };

type CacheEntry = {
  readonly key: string;
  readonly body: Buffer;
  readonly contentType: string;
  readonly kind: DocumentKind;
  readonly scope: DocumentScope;
  readonly bytes: number;
  readonly storedAt: number;
  isCurrent: boolean;
};

/** Bounds the age of documents, because operators can change views without an event. */
const MAX_AGE_MS = 60_000;

/** Estimated bytes of an entry besides its texts. */
const ENTRY_BYTES = 400;

/** A document that alone takes more than this part of the memory is not kept. */
const LARGEST_PART = 0.125;

/** Changes that are compared with reads that have not ended. If there are more, the reads are not kept. */
const MAX_RECENT_CHANGES = 2_000;

const scopes = new WeakMap<Actor, DocumentScope>();

/**
 * Allows the gateway to keep the response to this request of the actor. Call it only if the response depends on nothing
 * but the URL, the caller and the tables of the route's document kind.
 */
export const recordDocumentScope = (actor: Actor, scope: DocumentScope): void => void scopes.set(actor, scope);

export const findDocumentScope = (actor: Actor): DocumentScope | null => scopes.get(actor) ?? null;

type NewDocument = Pick<CacheEntry, 'body' | 'contentType' | 'kind' | 'scope'> & {
  readonly identity: Identity;
  readonly url: string;
};

const estimateBytes = (key: string, body: Buffer): number => body.length + key.length + ENTRY_BYTES;

const nameLists = (organization: string): string => `${organization} lists`;

const listScopeNames = ({ organization, workspace }: DocumentScope): readonly [string, string] => [
  organization,
  workspace ?? nameLists(organization),
];

/**
 * Responses by caller and URL, with a limit of bytes; the least recently used are dropped first. A response is found
 * only until an event that can have changed it has been reported. `ReadBarrier` reports all events before it lets a
 * request pass.
 */
export class DocumentCache implements ChangeListener {
  private readonly entries: LRUCache<string, CacheEntry>;
  private readonly byScope = new Map<string, Set<CacheEntry>>();
  /**
   * Hashes of keys of responses that were made of kept resources, with the bytes that the responses would take: as many as the
   * cache could keep.
   */
  private readonly recentKeys: LRUCache<string, number>;
  private readonly callerNumbers = new WeakMap<Identity, number>();
  private callers = 0;
  private recent: LogChange[] = [];
  /** Number of changes before the first one of `recent`. */
  private forgotten = 0;
  /** Rises when anything may have changed. */
  private generation = 0;

  constructor(
    private readonly maxBytes: number,
    private readonly dependencies: DocumentDependencies,
    private readonly clock: Clock,
  ) {
    this.entries = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ bytes }) => bytes,
      dispose: (entry, _key, reason) => reason === 'evict' && this.forget(entry, 'memory'),
    });
    this.recentKeys = new LRUCache({ maxSize: maxBytes, sizeCalculation: (bytes) => bytes });
  }

  find(identity: Identity, url: string): KeptDocument | null {
    const entry = this.entries.get(this.buildKey(identity, url));
    if (!entry) return null;
    if (Math.abs(this.clock.now().getTime() - entry.storedAt) > MAX_AGE_MS) {
      this.drop(entry, 'age');
      return null;
    }
    return entry;
  }

  /** Call it before the statement that reads the document is sent. */
  createTicket(): ReadTicket {
    return { generation: this.generation, change: this.forgotten + this.recent.length };
  }

  /**
   * Keeps a response, unless something that it depends on may have changed since the ticket was created. Of several
   * simultaneous reads the first is kept. If later ones replaced it, requests that wait for it would have to read, and
   * replace it again: 16 connections then read a list for seconds.
   */
  keep(ticket: ReadTicket, { identity, url, ...document }: NewDocument): void {
    const key = this.buildKey(identity, url);
    if (this.entries.has(key)) return;
    const bytes = estimateBytes(key, document.body);
    if (bytes > this.maxBytes * LARGEST_PART || this.hasChangedSince(ticket, document)) return;
    const entry = { ...document, key, bytes, storedAt: this.clock.now().getTime(), isCurrent: true };
    for (const name of listScopeNames(entry.scope)) {
      const sharing = this.byScope.get(name);
      if (sharing) sharing.add(entry);
      else this.byScope.set(name, new Set([entry]));
    }
    this.entries.set(key, entry);
    this.report();
  }

  /**
   * Keeps a response that is made of kept resources, if the cache would still have it from the last time. Clients that read one page
   * after the other would otherwise replace all kept responses, and each of them is memory that only a collection of the
   * whole heap frees.
   */
  keepRepeated(response: NewDocument): void {
    const key = this.buildKey(response.identity, response.url);
    const recentKey = hash('sha256', key, 'base64');
    const isRepeated = this.recentKeys.has(recentKey);
    this.recentKeys.set(recentKey, estimateBytes(key, response.body));
    if (isRepeated) this.keep(this.createTicket(), response);
  }

  onChanges(changes: readonly LogChange[]): void {
    for (const change of changes) this.dropChanged(change);
    this.recent.push(...changes);
    const surplus = this.recent.length - MAX_RECENT_CHANGES;
    if (surplus > 0) {
      this.recent = this.recent.slice(surplus);
      this.forgotten += surplus;
    }
    this.report();
  }

  onUnknownChanges(): void {
    this.generation += 1;
    for (const entry of this.entries.values()) this.drop(entry, 'unknown');
    this.report();
  }

  private dropChanged(change: LogChange): void {
    for (const entry of this.listCandidates(change)) {
      if (this.dependencies.isChangedBy(change, entry.kind, entry.scope)) this.drop(entry, 'changed');
    }
  }

  /** Returns at least the documents that the event can change. Most events change one workspace of many. */
  private listCandidates(change: LogChange): readonly CacheEntry[] {
    const { organization } = change;
    const workspace = getChangedWorkspace(change);
    if (organization === null) return [...this.entries.values()];
    const names = workspace === null ? [organization] : [workspace, nameLists(organization)];
    return names.flatMap((name) => [...(this.byScope.get(name) ?? [])]);
  }

  private hasChangedSince(
    { generation, change }: ReadTicket,
    { kind, scope }: { readonly kind: DocumentKind; readonly scope: DocumentScope },
  ): boolean {
    if (generation !== this.generation || change < this.forgotten) return true;
    return this.recent
      .slice(change - this.forgotten)
      .some((recent) => this.dependencies.isChangedBy(recent, kind, scope));
  }

  private drop(entry: CacheEntry, reason: string): void {
    this.entries.delete(entry.key);
    this.forget(entry, reason);
  }

  private forget(entry: CacheEntry, reason: string): void {
    entry.isCurrent = false;
    for (const name of listScopeNames(entry.scope)) {
      const sharing = this.byScope.get(name);
      sharing?.delete(entry);
      if (sharing?.size === 0) this.byScope.delete(name);
    }
    cacheMetrics.dropped.inc({ reason });
  }

  private buildKey(identity: Identity, url: string): string {
    let caller = this.callerNumbers.get(identity);
    if (caller === undefined) this.callerNumbers.set(identity, (caller = ++this.callers));
    return `${caller} ${url}`;
  }

  private report(): void {
    cacheMetrics.documents.set(this.entries.size);
    cacheMetrics.bytes.set(this.entries.calculatedSize);
  }
}
