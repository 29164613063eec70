import { isAfter } from '#storage/event-store';
import { can, type Authenticator, type Identity } from '#api/access';
import type { Database } from '#platform/postgres';
import type { LiveStream } from '../messages/live.stream.js';
import type { Change } from '../messages/change.js';
import { renderChange, toViewer } from './change.renderer.js';
import { selectScopeFacts, toScopeFacts, type ScopeFacts, type ScopeFactsRow } from './scope-facts.queries.js';

/** How often the access of a caller is read again because it changed meanwhile. */
const MAX_ATTEMPTS = 5;

/** Messages of one stream. */
type RenderedMessages = { readonly text: string; readonly count: number; readonly lastEvent: string };

type CallerOfStream = Pick<LiveStream['options'], 'credential' | 'address'>;

type RenderedChange = { readonly change: Change; readonly text: string };

const renderAll = (changes: readonly Change[], identity: Identity, facts: ScopeFacts): readonly RenderedChange[] => {
  const viewer = toViewer(identity);
  return changes.flatMap((change) => {
    const text = renderChange(change, viewer, facts);
    return text === null ? [] : [{ change, text }];
  });
};

/** Returns the messages that the stream has not passed yet; null if there are none. */
const selectMessages = (stream: LiveStream, rendered: readonly RenderedChange[]): RenderedMessages | null => {
  const { organization } = stream.options;
  const own = rendered.filter(({ change }) => change.organization === organization && isAfter(change, stream.position));
  const last = own.at(-1);
  return last ? { text: own.map(({ text }) => text).join(''), count: own.length, lastEvent: last.change.id } : null;
};

/** Decides for open streams what their callers may read now. */
export class StreamAccess {
  constructor(
    private readonly database: Database,
    private readonly authenticator: Authenticator,
  ) {}

  /**
   * Returns the messages of each stream. One statement answers for all of them; it is repeated for callers whose access has
   * changed. Ends the streams whose callers may no longer read the organization.
   */
  async render(
    changes: readonly Change[],
    streams: readonly LiveStream[],
  ): Promise<ReadonlyMap<LiveStream, RenderedMessages>> {
    const messages = new Map<LiveStream, RenderedMessages>();
    let pending = await this.identify(streams);
    for (let attempt = 1; pending.length > 0; attempt += 1) {
      const callers = [...new Set(pending.map(({ identity }) => identity))];
      const { outdated, facts } = await this.readFacts(changes, callers);
      const renderedFor = new Map<Identity, readonly RenderedChange[]>();
      for (const stream of pending.filter(({ identity }) => !outdated.has(identity))) {
        const { identity } = stream;
        const rendered = renderedFor.get(identity) ?? renderAll(changes, identity, facts);
        renderedFor.set(identity, rendered);
        const own = selectMessages(stream, rendered);
        if (own) messages.set(stream, own);
      }
      pending = pending.filter(({ identity }) => outdated.has(identity));
      if (attempt === MAX_ATTEMPTS) for (const stream of pending.splice(0)) stream.end('unavailable');
      for (const { options } of pending) this.authenticator.forget(options.credential);
      pending = await this.identify(pending);
    }
    return messages;
  }

  private async readFacts(changes: readonly Change[], callers: readonly Identity[]) {
    const row = (await this.database.row<ScopeFactsRow>(selectScopeFacts(changes, callers))) as ScopeFactsRow;
    return {
      outdated: new Set(row.outdated.map((position) => callers[position - 1] as Identity)),
      facts: toScopeFacts(row),
    };
  }

  /** Returns the streams whose callers may read the organization, and ends the others. */
  private async identify(streams: readonly LiveStream[]): Promise<LiveStream[]> {
    const identities = new Map<string, Promise<Identity | null>>();
    const identifyOnce = ({ credential, address }: CallerOfStream): Promise<Identity | null> => {
      const key = `${credential} ${address}`;
      const identity = identities.get(key) ?? this.authenticator.identifyAgain(credential, address);
      identities.set(key, identity);
      return identity;
    };
    const open = streams.filter(({ hasEnded }) => !hasEnded);
    const present = await Promise.all(open.map(({ options }) => identifyOnce(options)));
    return open.filter((stream, n) => {
      const identity = present[n];
      const { organization } = stream.options;
      if (!identity || !can(identity, 'read-organization', { organization })) {
        stream.end('access');
        return false;
      }
      stream.identity = identity;
      return true;
    });
  }
}
