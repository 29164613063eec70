import type { DocumentKind } from '#api/access';
import type { LogChange } from '#storage/event-store';
import type { Projection } from '#platform/kernel';

/** The resources that a document is about. */
export type DocumentScope = {
  readonly organization: string;
  /** The one workspace that the document shows; null if it shows several resources of the organization. */
  readonly workspace: string | null;
};

/** The prefix of the ids of workspaces, which are the names of their streams. */
const WORKSPACE_PREFIX = 'ws-';

/** Removes the names of a person from documents of all organizations. */
const FORGOTTEN = 'UserForgotten';

/** Returns the only workspace that the event changes; null if there can be several. */
export const getChangedWorkspace = ({ stream, workspace }: LogChange): string | null =>
  stream.startsWith(WORKSPACE_PREFIX) ? stream : workspace;

/** Decides which events can change which documents: those of the projections that write the tables of the document. */
export class DocumentDependencies {
  private readonly types = new Map<DocumentKind, ReadonlySet<string>>();

  constructor(private readonly projections: readonly Projection[]) {}

  /** Returns whether the event can change a document of this kind and scope. */
  isChangedBy(change: LogChange, kind: DocumentKind, { organization, workspace }: DocumentScope): boolean {
    if (change.type === FORGOTTEN) return true;
    if (!this.listTypes(kind).has(change.type)) return false;
    if (change.organization === null) return true;
    if (change.organization !== organization) return false;
    const changed = getChangedWorkspace(change);
    return workspace === null || changed === null || changed === workspace;
  }

  /** Returns the types of the events that can change documents of this kind. */
  listTypes(kind: DocumentKind): ReadonlySet<string> {
    const listed = this.types.get(kind);
    if (listed) return listed;
    const types = new Set(kind.tables.flatMap((table) => this.listWriters(table)));
    this.types.set(kind, types);
    return types;
  }

  private listWriters(table: string): readonly string[] {
    const writers = this.projections.filter(({ tables }) => (tables as readonly string[]).includes(table));
    if (writers.length === 0)
      throw new Error(`no projection writes the table ${table}, so a kept document cannot read it`);
    return writers.flatMap(({ on }) => Object.entries(on).flatMap(([type, handler]) => (handler ? [type] : [])));
  }
}
