import type { Message } from './message.js';

/**
 * Deletions in the hierarchy organization > project > workspace. A deletion removes everything that the deleted
 * resource owns, so modules below its own handle these events too. That is why the events are defined here.
 */

export type OrganizationDeleted = Message<'OrganizationDeleted', { name: string }>;
export type ProjectDeleted = Message<'ProjectDeleted', { name: string }>;
export type WorkspaceDeleted = Message<'WorkspaceDeleted', { name: string; project: string; forced: boolean }>;
