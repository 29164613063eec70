import { z } from 'zod';
import { defineEvents, type EventKinds } from '#kernel';
import type { SavedViewEvent } from './saved-view.js';

const content = { name: z.string(), query: z.string(), shared: z.boolean() };

/** The owners of the organization read the audit trail, and may not read the names of private views. */
const meta = ({ name, shared }: { readonly name: string; readonly shared: boolean }) =>
  shared ? { name, shared } : { shared };

export const savedViewEvents = defineEvents(
  {
    topic: 'saved-views',
    stream: 'sview',
    audited: 'saved_view',
    live: { unsent: 'a private view is visible only to its person; lists of views are read when they are opened' },
  },
  {
    SavedViewCreated: {
      schema: z.strictObject({ ...content, createdBy: z.string() }),
      audit: { action: 'create', meta },
    },
    SavedViewUpdated: { schema: z.strictObject(content), audit: { action: 'update', meta } },
    SavedViewDeleted: {
      schema: z.strictObject({ name: z.string(), shared: z.boolean() }),
      audit: { action: 'destroy', meta },
    },
  },
) satisfies EventKinds<SavedViewEvent>;
