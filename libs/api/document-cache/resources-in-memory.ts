import type { DocumentKind, Identity } from '#api/access';
import type { LogChange } from '#storage/event-store';
import type { Sql } from '#platform/kernel';
import type { DocumentScope } from './dependencies.js';

/** Receives the result of each check, before the requests that wait for it continue. */
export type ChangeListener = {
  /** These events have become visible since the previous check. */
  onChanges(changes: readonly LogChange[]): void;
  /** Anything may have changed. */
  onUnknownChanges(): void;
};

/** Resources by their ids, or by the names of their organizations and their own. */
export type ResourceKeys = { readonly ids: readonly string[]; readonly names: readonly QualifiedName[] };

type QualifiedName = { readonly organization: string; readonly name: string };

export type LoadedRow = { readonly id: string };

/** Reads the resources that requests need and that are not in memory, in the statement of a check. */
export type ResourceReader = ChangeListener & {
  /** Selects the resources with these keys, with the columns of the rows. */
  select(keys: ResourceKeys): Sql;
  /** Receives the rows after the changes of the same check. Resources without a row do not exist. */
  onRead(keys: ResourceKeys, rows: readonly LoadedRow[]): void;
};

export type MemoryRequest = { readonly params: unknown; readonly query: unknown; readonly publicUrl: string };

/** A request that resources in memory can answer. */
export type PlannedRead = {
  /** Null for a response that costs so little that it is not kept as a whole. */
  readonly scope: DocumentScope | null;
  /** Returns the resources that the response needs and that are not in memory. */
  listMissing(): ResourceKeys;
  /** Returns the body; null if a resource is missing or if the handler must respond, for example with a refusal. */
  render(): Buffer | null;
};

/** Resources in memory. Responses to all callers are made of them. */
export type ResourcesInMemory = ResourceReader & {
  /** Returns null if the handler must respond. */
  plan(kind: DocumentKind, identity: Identity, request: MemoryRequest): PlannedRead | null;
};
