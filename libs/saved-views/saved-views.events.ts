import { z } from 'zod';
import type { EventKinds } from '#kernel';
import type { SavedViewEvent } from './saved-view.js';

const content = { name: z.string(), query: z.string(), shared: z.boolean() };

/** The owners of the organization read the audit trail, and may not read the names of private views. */
const meta = ({ name, shared }: { readonly name: string; readonly shared: boolean }) =>
  shared ? { name, shared } : { shared };

export const savedViewEvents: EventKinds<SavedViewEvent> = {
  SavedViewCreated: {
    schemaVersion: 1,
    topic: 'saved-views',
    schema: z.strictObject({ ...content, createdBy: z.string() }),
    audit: { resource: 'saved_view', action: 'create', meta },
  },
  SavedViewUpdated: {
    schemaVersion: 1,
    topic: 'saved-views',
    schema: z.strictObject(content),
    audit: { resource: 'saved_view', action: 'update', meta },
  },
  SavedViewDeleted: {
    schemaVersion: 1,
    topic: 'saved-views',
    schema: z.strictObject({ name: z.string(), shared: z.boolean() }),
    audit: { resource: 'saved_view', action: 'destroy', meta },
  },
};
