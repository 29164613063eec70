import http, { type IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { ApiTestClient } from './server.js';
import { expectStatus, resource } from './seeds.js';

/** A message as a browser would dispatch it. */
export type ReceivedMessage = {
  /** The last id that the stream has set. */
  readonly id: string | null;
  readonly event: string;
  readonly data: any;
};

export type StreamRequestOptions = {
  readonly lastEventId?: string | null;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
};

/** Reads a stream of Server-Sent Events as browsers do (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
export class StreamReader {
  readonly messages: ReceivedMessage[] = [];
  lastEventId: string | null = null;
  retryMs: number | null = null;
  comments = 0;
  hasEnded = false;
  private rest = '';
  private readonly waiting = new Set<() => void>();

  constructor(readonly body: Readable) {
    body.setEncoding('utf8');
    body.on('data', (chunk: string) => this.add(chunk));
    body.once('close', () => {
      this.hasEnded = true;
      this.wake();
    });
    // A connection that the test or the server has closed.
    body.on('error', () => undefined);
  }

  /** Opens a stream of the organization with this name, and waits for its first message. Throws if the server refuses. */
  static async open(
    { url }: { readonly url: string },
    organization: string,
    token: string | null,
    options: StreamRequestOptions = {},
  ): Promise<StreamReader> {
    const response = await StreamReader.request({ url }, organization, token, options);
    if (response.statusCode !== 200) throw new Error(`the stream was refused with ${response.statusCode}`);
    return new StreamReader(response);
  }

  static request(
    { url }: { readonly url: string },
    organization: string,
    token: string | null,
    { lastEventId = null, query = '', headers = {}, method = 'GET' }: StreamRequestOptions = {},
  ): Promise<IncomingMessage> {
    const sent = {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      accept: 'text/event-stream',
      ...(lastEventId === null ? {} : { 'last-event-id': lastEventId }),
      ...headers,
    };
    return new Promise((resolve, reject) => {
      const address = `${url}/api/v2/organizations/${organization}/events${query}`;
      http.request(address, { method, headers: sent, agent: false }, resolve).once('error', reject).end();
    });
  }

  /** Waits until the condition holds. Throws if the stream ends before. */
  async until(condition: (reader: StreamReader) => boolean): Promise<void> {
    while (!condition(this)) {
      if (this.hasEnded) throw new Error(`the stream has ended with ${JSON.stringify(this.messages.at(-1))}`);
      await new Promise<void>((resolve) => this.waiting.add(resolve));
    }
  }

  /** Waits until the server has ended the stream. Returns the reason of its last message. */
  async endReason(): Promise<unknown> {
    while (!this.hasEnded) await new Promise<void>((resolve) => this.waiting.add(resolve));
    const last = this.messages.at(-1);
    return last?.event === 'end' ? last.data.reason : null;
  }

  close(): void {
    this.body.destroy();
  }

  private wake(): void {
    for (const resolve of this.waiting) resolve();
    this.waiting.clear();
  }

  private add(chunk: string): void {
    const blocks = `${this.rest}${chunk}`.split('\n\n');
    this.rest = blocks.pop() ?? '';
    for (const block of blocks) this.dispatch(block.split('\n'));
    this.wake();
  }

  private dispatch(lines: readonly string[]): void {
    let event = 'message';
    let data = '';
    for (const line of lines) {
      const [, field, value = ''] = /^([a-z]*):? ?(.*)$/.exec(line) ?? [];
      if (field === '') this.comments += 1;
      else if (field === 'id') this.lastEventId = value;
      else if (field === 'retry') this.retryMs = Number(value);
      else if (field === 'event') event = value;
      else if (field === 'data') data += value;
    }
    if (data !== '') this.messages.push({ id: this.lastEventId, event, data: JSON.parse(data) });
  }
}

/** A message in short: `changed workspaces ws-1 WorkspaceLocked`. */
export const shorten = ({ event, data }: ReceivedMessage): string =>
  [event, data.resource?.type, data.resource?.id, data.type].filter((part) => part !== undefined).join(' ');

let marks = 0;

/**
 * Changes something that every member of the organization may read. When its message has arrived, all messages about earlier
 * changes have arrived too. Returns a condition for `until`.
 */
export const mark = async (
  owner: ApiTestClient,
  organization: string,
): Promise<(reader: Pick<StreamReader, 'messages'>) => boolean> => {
  const key = `mark-${(marks += 1)}`;
  const path = `/api/v2/organizations/${organization}/reserved-tag-keys`;
  const { body } = expectStatus(await owner.post(path, resource('reserved-tag-keys', { key })), 201);
  const id = body.data.id as string;
  return ({ messages }) => messages.some(({ data }) => data.resource?.id === id);
};

/** Returns the messages about changes that are no marks, in short. */
export const listChanges = ({ messages }: Pick<StreamReader, 'messages'>): string[] =>
  messages
    .filter(({ event, data }) => data.type !== undefined && data.type !== 'ReservedTagKeyCreated' && event !== 'ready')
    .map(shorten);

/** Waits until all changes before this call have arrived. Returns the messages in short, without marks. */
export const readAll = async (reader: StreamReader, owner: ApiTestClient, organization: string): Promise<string[]> => {
  await reader.until(await mark(owner, organization));
  return listChanges(reader);
};
