import { sql, type EventContext } from '#platform/kernel';

/** The context of an event, as one of its client. */
type ClientContext = {
  /** The number of the client, from 0. */
  readonly client: number;
  /** Whether this is the first context of the client. */
  readonly isNew: boolean;
  /** The id of the request; null if the context must be stored as it is. */
  readonly request: string | null;
};

const isOfRequest = ({ request: { id }, correlation, causation }: EventContext): boolean =>
  id !== null && id === correlation && causation === null;

const withoutRequest = (context: EventContext): EventContext => ({
  ...context,
  correlation: '',
  request: { ...context.request, id: '' },
});

/** Numbers the clients of events. Contexts that differ only in the id of their request are one client's. */
export class ClientContexts {
  private readonly clients = new Map<string, number>();

  find(context: EventContext): ClientContext {
    const isShared = isOfRequest(context);
    const key = sql.json(isShared ? withoutRequest(context) : context);
    const existing = this.clients.get(key);
    const client = existing ?? this.clients.size;
    if (existing === undefined) this.clients.set(key, client);
    return { client, isNew: existing === undefined, request: isShared ? context.request.id : null };
  }
}

/**
 * The values of the columns `context, shared_context, request` for an event of a client: stores each client's context once,
 * as event_store.append does (007_event_contexts.sql). `context` is that of the client, `shared` the result of
 * event_store.share_context, and `request` as in ClientContext.
 */
export const STORED_CONTEXT = sql`
  case when shared is not null then null
       when request is null then context
       else context || jsonb_build_object('correlation', request, 'request',
              (context -> 'request') || jsonb_build_object('id', request)) end,
  shared, case when shared is not null then request::uuid end`;
