import type { Sql } from '#platform/kernel';
import type { Actor } from '#api/access';
import type { KeyedDocuments } from '#api/json-api';

/** An event with the ids that it names, or that the first event of its stream names. */
export type ReferencedEvent = {
  readonly type: string;
  readonly stream: string;
  readonly organization: string;
  readonly workspace: string | null;
  /** The project, or both projects of a move. */
  readonly projects: readonly string[];
  readonly team: string | null;
  readonly provider: string | null;
  readonly platform: string | null;
};

/**
 * The documents that an event can change. A document that has not changed is read, and not published again, so a large
 * scope costs reads only.
 */
export type AffectedDocuments =
  | { readonly in: 'keys'; readonly keys: readonly string[] }
  | { readonly in: 'project'; readonly project: string }
  | { readonly in: 'organization' };

/** A kind of resource whose latest documents are in a state topic. */
export type PublishedResource = {
  /** JSON:API type of the documents, or a name of its own for a list. Unique. */
  readonly type: string;
  /** Name of the topic without its prefix. */
  readonly topic: string;
  readonly description: string;
  /** Raise it when the same resource gives another document: then all documents are published again. */
  readonly schemaVersion: number;
  /** The tables that change documents. Events that change them can change documents. */
  readonly tables: readonly string[];
  /** Further types of events that can change documents. */
  readonly alsoChangedBy: readonly string[];
  /** The column with the id of the stream that contains the events of the resource. */
  readonly streamColumn: 'id' | 'versionId';
  readonly findAffected: (event: ReferencedEvent) => AffectedDocuments;
  /**
   * Selects the documents with these keys as an owner of their organization gets them, without secrets, signed links,
   * and names and e-mail addresses of people.
   */
  readonly select: (keys: Sql, owner: Actor) => KeyedDocuments;
  /** Selects the keys of all documents of an organization, or of a project, as `key`. */
  readonly selectKeys: (scope: KeyScope) => Sql;
};

type KeyScope = { readonly organization: string } | { readonly project: string };
