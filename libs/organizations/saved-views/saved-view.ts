import { z } from 'zod';
import {
  checkName,
  conflict,
  defineEvents,
  requireActive,
  runAllChecks,
  unprocessable,
  type Decider,
  type EventsOf,
  type Message,
} from '#platform/kernel';

/** What a saved view is. `query`: filters, order and columns, as in the address of the list, without a leading `?`. */
export type SavedViewContent = { readonly name: string; readonly query: string; readonly shared: boolean };

const content = { name: z.string(), query: z.string(), shared: z.boolean() };

/** The owners of the organization read the audit trail, and may not read the names of private views. */
const meta = ({ name, shared }: { readonly name: string; readonly shared: boolean }) =>
  shared ? { name, shared } : { shared };

/**
 * Filters, order and columns of the list of workspaces under a name, saved by a person: private, or shared with the
 * organization.
 *
 *   absent ──create──► active ──delete──► deleted
 */
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
);

export type SavedViewEvent = EventsOf<typeof savedViewEvents>;

export type SavedViewCommand =
  | Message<'CreateSavedView', SavedViewContent & { createdBy: string }>
  /** An attribute that is absent keeps its value. */
  | Message<'UpdateSavedView', Partial<SavedViewContent>>
  | Message<'DeleteSavedView', Record<never, never>>;

type ActiveSavedView = SavedViewContent & { readonly status: 'active' };
type SavedViewState = { readonly status: 'absent' | 'deleted' } | ActiveSavedView;

const NAME_RULE = { most: 100 };
const MAX_QUERY = 2_000;
/** The characters of an address (RFC 3986 §2). Browsers escape all others. */
const QUERY = /^[!-~]*$/;

const checkQuery = (query: string): void => {
  if (query.length > MAX_QUERY) throw unprocessable(`Query is too long (at most ${MAX_QUERY} characters)`, 'query');
  if (!QUERY.test(query) || query.startsWith('?')) {
    const text = 'Query must be the query of an address: printable ASCII characters without spaces and a leading ?';
    throw unprocessable(text, 'query');
  }
};

const checkContent = ({ name, query }: SavedViewContent): void =>
  runAllChecks(
    () => checkName(name, NAME_RULE),
    () => checkQuery(query),
  );

const isEqual = (one: SavedViewContent, other: SavedViewContent): boolean =>
  one.name === other.name && one.query === other.query && one.shared === other.shared;

export const savedView: Decider<SavedViewState, SavedViewCommand, SavedViewEvent> = {
  version: 1,
  initial: { status: 'absent' },
  decide: {
    CreateSavedView: ({ name, query, shared, createdBy }, state) => {
      if (state.status !== 'absent') throw conflict('Saved view exists already');
      checkContent({ name, query, shared });
      return [{ type: 'SavedViewCreated', data: { name, query, shared, createdBy } }];
    },
    UpdateSavedView: (changes, state) => {
      const before = requireActive(state);
      const after = {
        name: changes.name ?? before.name,
        query: changes.query ?? before.query,
        shared: changes.shared ?? before.shared,
      };
      checkContent(after);
      return isEqual(before, after) ? [] : [{ type: 'SavedViewUpdated', data: after }];
    },
    DeleteSavedView: (_, state) => {
      const { name, shared } = requireActive(state);
      return [{ type: 'SavedViewDeleted', data: { name, shared } }];
    },
  },
  evolve: {
    SavedViewCreated: ({ name, query, shared }) => ({ status: 'active', name, query, shared }),
    SavedViewUpdated: (content, state) => (state.status === 'active' ? { ...state, ...content } : state),
    SavedViewDeleted: () => ({ status: 'deleted' }),
  },
};
