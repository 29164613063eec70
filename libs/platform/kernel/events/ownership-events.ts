import type { Sql } from '../runtime/sql.js';
import type { Message } from './message.js';
import type { RecordedEvent } from './recorded-event.js';

/**
 * Deletions in the hierarchy organization > project > workspace. A deletion removes everything that the deleted
 * resource owns, so modules below its own handle these events too. That is why the events are defined here.
 *
 * A deleted workspace or project can be recovered until its purge (ADR 107, 116). Its contents stay where they are, and only
 * its own row moves to another table: every statement about the contents joins the workspace or project.
 */

export type OrganizationDeleted = Message<'OrganizationDeleted', { name: string }>;
/** `recoverableUntil`: null if the deletion is final, and removes the contents at once. */
export type ProjectDeleted = Message<'ProjectDeleted', { name: string; recoverableUntil: string | null }>;
export type ProjectRecovered = Message<'ProjectRecovered', { name: string }>;
/** The end of a deleted project: it is too late to recover it. `expired`: false if somebody ended it before its time. */
type ProjectPurged = Message<'ProjectPurged', { name: string; expired: boolean }>;

/** The events after which nothing of a project remains, and the deletion that can precede them. */
export type ProjectEnd = ProjectDeleted | ProjectPurged;

/** `recoverableUntil`: null if the deletion is final, and removes the contents at once. */
export type WorkspaceDeleted = Message<
  'WorkspaceDeleted',
  { name: string; project: string; forced: boolean; recoverableUntil: string | null }
>;
/** The end of a deleted workspace: it is too late to recover it. `expired`: false if somebody ended it before its time. */
type WorkspacePurged = Message<'WorkspacePurged', { name: string; project: string; expired: boolean }>;

/** The events after which nothing of a workspace remains, and the deletion that can precede them. */
export type WorkspaceEnd = WorkspaceDeleted | WorkspacePurged;

/** For followers: whether an event ends a workspace for good. */
export const WORKSPACE_ENDS = {
  WorkspaceDeleted: ({ recoverableUntil }: WorkspaceDeleted['data']): boolean => recoverableUntil === null,
  WorkspacePurged: (): boolean => true,
};

/** Handlers of a projection that removes what belongs to a workspace when the workspace cannot be recovered any more. */
export const whenWorkspaceEnds = <S extends Sql | readonly Sql[]>(remove: (workspace: string) => S) => ({
  WorkspaceDeleted: ({ recoverableUntil }: WorkspaceDeleted['data'], { stream }: RecordedEvent): S | null =>
    recoverableUntil === null ? remove(stream) : null,
  WorkspacePurged: (_: WorkspacePurged['data'], { stream }: RecordedEvent): S => remove(stream),
});

/** Handlers of a projection that removes what belongs to a project when the project cannot be recovered any more. */
export const whenProjectEnds = <S extends Sql | readonly Sql[]>(remove: (project: string) => S) => ({
  ProjectDeleted: ({ recoverableUntil }: ProjectDeleted['data'], { stream }: RecordedEvent): S | null =>
    recoverableUntil === null ? remove(stream) : null,
  ProjectPurged: (_: ProjectPurged['data'], { stream }: RecordedEvent): S => remove(stream),
});
